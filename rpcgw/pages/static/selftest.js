// The self-test of a site's tools: what this browser allows, what became of each tool, and a button to run each.
"use strict";

(() => {
  const page = document.getElementById("content");
  const { yes, no, unknown, registered, notRegistered } = page.dataset;
  const context = document.modelContext;

  function tell(check, verdict) {
    const shown = document.querySelector(`[data-check="${check}"] .verdict`);
    shown.textContent = verdict === undefined ? unknown : verdict ? yes : no;
    shown.className = `verdict ${verdict === undefined ? "" : verdict ? "yes" : "no"}`;
  }

  async function checks() {
    const state = await window.rpcgw?.refresh();
    const reasons = Object.values(state ?? {}).join();
    const policy = document.permissionsPolicy ?? document.featurePolicy;
    tell("script", Boolean(state));
    tell("secure", window.isSecureContext);
    tell("interface", Boolean(context));
    tell("policy", reasons.includes("NotAllowedError") ? false : policy?.features().includes("tools") ? policy.allowsFeature("tools") : context && Boolean(reasons));
    tell("domain", context ? !reasons.includes("SecurityError") : undefined);
    tell("top", window.top === window);
    tell("tools", document.querySelectorAll("form.run").length > 0);
    for (const shown of document.querySelectorAll(".state")) {
      const reason = state?.[shown.dataset.tool];
      shown.textContent = reason === "registered" ? registered : `${notRegistered}. ${reason ?? ""}`;
    }
  }

  async function run(form) {
    const output = form.querySelector("output");
    output.textContent = "…";
    try {
      const given = JSON.parse(form.querySelector("textarea").value);
      const tool = (await context.getTools()).find((each) => each.name === form.dataset.tool);
      if (!tool) throw new Error(notRegistered);
      const said = await context.executeTool(tool, given).catch(() => context.executeTool(tool, JSON.stringify(given)));
      const shown = document.createElement("pre");
      shown.textContent = JSON.stringify(JSON.parse(said), null, 2);
      shown.tabIndex = 0;
      output.replaceChildren(shown);
    } catch (problem) {
      output.textContent = String(problem);
    }
  }

  for (const form of document.querySelectorAll("form.run")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      run(form);
    });
  }
  window.addEventListener("load", checks);
})();
