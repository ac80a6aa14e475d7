"use strict";
// Tries methods: reads forms, calls over JSON-RPC and MCP, shows what went over the wire and what it means.

(() => {
  const page = document.getElementById("content");
  const say = (key) => page.getAttribute(`data-say-${key.replaceAll("_", "-")}`) || "";
  const token = document.getElementById("token");
  const REVISION = "2026-07-28";
  const DELAY = 150;
  let last = 0;

  // --- text -------------------------------------------------------------------------------------------------------

  function element(name, text, className) {
    const made = document.createElement(name);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  // Indents JSON without reading its numbers: a large integer stays as it was sent.
  function pretty(text) {
    let depth = 0;
    let shown = "";
    for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|\[\s*\]|\{\s*\}|[{}[\],:]|[^\s"{}[\],:]+/g)) {
      if (part === "{" || part === "[") shown += part + "\n" + "  ".repeat(++depth);
      else if (part === "}" || part === "]") shown += "\n" + "  ".repeat(--depth) + part;
      else if (part === ",") shown += ",\n" + "  ".repeat(depth);
      else if (part === ":") shown += ": ";
      else shown += part.startsWith("[") || part.startsWith("{") ? part.replace(/\s/g, "") : part;
    }
    return shown;
  }

  function readable(text) {
    try {
      JSON.parse(text);
      return pretty(text);
    } catch {
      return text;
    }
  }

  // --- forms ------------------------------------------------------------------------------------------------------

  const KINDS = {
    string: (text) => JSON.stringify(text),
    integer: (text) => (/^\s*-?(0|[1-9]\d*)\s*$/.test(text) ? text.trim() : new Error("no_integer")),
    number: (text) => (/^\s*-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\s*$/.test(text) ? text.trim() : new Error("no_number")),
    boolean: (text) => text,
    enum: (text) => text,
    json: (text) => {
      try {
        JSON.parse(text);
        return text.trim();
      } catch {
        return new Error("no_json");
      }
    },
  };

  const fieldsOf = (method) => [...method.querySelectorAll("form .field")];
  const inputOf = (field) => field.querySelector("input[type=text], textarea, select");

  // The JSON text of a field's value, "" where it is not sent, an Error where it has none.
  function valueOf(field) {
    const isNull = field.querySelector(".null input");
    if (isNull && isNull.checked) return "null";
    const { kind, required } = field.dataset;
    const text = inputOf(field).value;
    if (text === "" && !(kind === "string" && required)) return required ? new Error("missing") : "";
    return KINDS[kind](text);
  }

  function complain(field, message) {
    field.querySelector(".error").textContent = message;
    if (message) inputOf(field).setAttribute("aria-invalid", "true");
    else inputOf(field).removeAttribute("aria-invalid");
  }

  // The arguments as pairs of name and JSON text; null where a field is wrong and `loud` says so on the page.
  function argumentsOf(method, loud) {
    const found = [];
    let wrong = null;
    for (const field of fieldsOf(method)) {
      const value = valueOf(field);
      if (loud) complain(field, value instanceof Error ? say(value.message) : "");
      if (value instanceof Error) wrong ??= field;
      else if (value !== "") found.push([field.dataset.name, value]);
    }
    if (loud && wrong) inputOf(wrong).focus();
    return loud && wrong ? null : found;
  }

  const objectOf = (pairs) => `{${pairs.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(", ")}}`;

  // --- requests ---------------------------------------------------------------------------------------------------

  function headerOf(text) {
    if (/^[!-~]([ -~]*[!-~])?$/.test(text) && !text.startsWith("=?base64?")) return text;
    const bytes = new TextEncoder().encode(text);
    return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}?=`;
  }

  function mirrored(method, args) {
    const headers = {};
    const values = JSON.parse(objectOf(args));
    const texts = new Map(args);
    for (const [path, label] of JSON.parse(method.dataset.mirrors)) {
      const value = path.reduce((at, name) => (at === null || typeof at !== "object" ? undefined : at[name]), values);
      if (value === undefined || value === null) continue;
      // an integer is repeated as it was written
      const written = typeof value === "number" && path.length === 1 ? texts.get(path[0]) : String(value);
      headers[`Mcp-Param-${label}`] = headerOf(written);
    }
    return headers;
  }

  function requestOf(method, args, surface, id) {
    const params = objectOf(args);
    if (surface === "rpc") {
      const body = `{"jsonrpc": "2.0", "id": ${id}, "method": ${JSON.stringify(method.dataset.method)}, "params": ${params}}`;
      return { path: page.dataset.rpc, headers: { "Content-Type": "application/json" }, body };
    }
    const meta = JSON.stringify({
      "io.modelcontextprotocol/protocolVersion": REVISION,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "rpcgw-console", version: "1" },
    });
    const name = JSON.stringify(method.dataset.tool);
    return {
      path: page.dataset.mcp,
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": headerOf(method.dataset.tool),
        ...mirrored(method, args),
      },
      body: `{"jsonrpc": "2.0", "id": ${id}, "method": "tools/call", "params": {"_meta": ${meta}, "name": ${name}, "arguments": ${params}}}`,
    };
  }

  const surfaceOf = (method) =>
    (method.querySelector("input[name=surface]:checked") || method.querySelector("input[type=hidden]")).value;

  // --- answers ----------------------------------------------------------------------------------------------------

  // The message of an answer: JSON, or the last event of a stream.
  function messageOf(type, text) {
    const parts = type.startsWith("text/event-stream")
      ? text.split(/\r?\n\r?\n/).map((event) => event.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n"))
      : [text];
    for (const part of parts.reverse()) {
      try {
        return { text: part, value: JSON.parse(part) };
      } catch {
        continue;
      }
    }
    return { text: "", value: null };
  }

  // Where an error names parameters: an object whose keys are fields of the form, or paths that begin with one.
  function faultsOf(data, names, depth = 0) {
    if (data === null || typeof data !== "object" || depth > 4) return {};
    const own = Object.entries(data).filter(([key, value]) => names.has(first(key)) && (Array.isArray(value) || typeof value === "string"));
    if (own.length) return Object.fromEntries(own);
    for (const value of Object.values(data)) {
      const found = faultsOf(value, names, depth + 1);
      if (Object.keys(found).length) return found;
    }
    return {};
  }

  const first = (path) => path.replace(/^\//, "").split(/[./[]/)[0];

  function explain(status, error, method) {
    const box = element("div", "", "explained");
    const code = error && error.code;
    const meaning = (code !== undefined && say(`e${code}`)) || say(`http${status}`) || (code !== undefined ? say("own_error") : "");
    if (code !== undefined) box.append(element("p", `${say("code")} ${code}: ${error.message}`, "strong"));
    const promised = method.querySelector(`.errors [data-code="${Number(code)}"]`);
    if (promised) box.append(element("p", promised.textContent));
    if (meaning) box.append(element("p", meaning));
    const fields = new Map(fieldsOf(method).map((field) => [field.dataset.name, field]));
    const faults = faultsOf(error && error.data, fields);
    const list = element("ul", "");
    for (const [path, texts] of Object.entries(faults)) {
      const text = [texts].flat().join("; ");
      list.append(element("li", `${say("at_parameter")} ${path}: ${text}`));
      complain(fields.get(first(path)), text);
    }
    if (list.children.length) box.append(list);
    return box;
  }

  // The error that a tool's result tells of, where it is one of the gateway's: `{code, message, data}` as text.
  function toldBy(result) {
    for (const block of Array.isArray(result.content) ? result.content : []) {
      try {
        const told = JSON.parse(block.text);
        if (told !== null && Number.isInteger(told.code) && typeof told.message === "string") return told;
      } catch {
        continue;
      }
    }
    return null;
  }

  function images(result) {
    return (surfaceIsMcp(result) ? result.content : [])
      .filter((block) => block.type === "image" && /^image\/[a-z+.-]+$/.test(block.mimeType))
      .map((block) => {
        const image = document.createElement("img");
        image.src = `data:${block.mimeType};base64,${block.data}`;
        image.alt = block.mimeType;
        return image;
      });
  }

  function show(method, outcome, reply, ms) {
    const { text, value } = messageOf(reply.type, reply.text);
    const error = value && value.error;
    const refused = value && value.result && value.result.isError === true;
    const good = reply.status < 400 && value && !error && !refused;
    outcome.className = `outcome ${good ? "good" : "bad"}`;
    outcome.replaceChildren(element("p", `${say(good ? "succeeded" : "failed")} · HTTP ${reply.status} · ${ms} ${say("milliseconds")}`, "strong"));
    if (error || (!good && !refused)) {
      const known = error && typeof error === "object" ? error : null;
      outcome.append(explain(reply.status, known, method));
      return;
    }
    const result = value.result;
    if (refused) {
      outcome.append(element("p", say("tool_error")));
      const told = toldBy(result);
      if (told) {
        outcome.append(explain(reply.status, told, method));
        return;
      }
    }
    const shown = element("pre", shownResult(result, text), "result");
    shown.tabIndex = 0;
    outcome.append(shown, ...images(result));
  }

  // The text of a member of a JSON object, digit by digit; "" where there is none.
  function memberOf(text, name) {
    let depth = 0;
    let start = -1;
    let key = "";
    for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g)) {
      const part = match[0];
      if (part === "{" || part === "[") depth += 1;
      else if (part === "}" || part === "]") depth -= 1;
      if (start >= 0 && ((depth === 1 && part === ",") || depth === 0)) return text.slice(start, match.index).trim();
      if (start < 0 && depth === 1 && part === ":" && key === JSON.stringify(name)) start = match.index + 1;
      else if (depth === 1) key = part;
    }
    return "";
  }

  // Over MCP the structured result, else the text of the content; over JSON-RPC the result.
  function shownResult(result, text) {
    const whole = memberOf(text, "result");
    if (surfaceIsMcp(result)) {
      const structured = memberOf(whole, "structuredContent");
      const texts = result.content.filter((block) => block.type === "text").map((block) => readable(block.text));
      if (structured && result.isError !== true) return pretty(structured);
      if (texts.length) return texts.join("\n\n");
    }
    return pretty(whole);
  }

  const surfaceIsMcp = (result) => result !== null && typeof result === "object" && Array.isArray(result.content) && "resultType" in result;

  async function call(method) {
    const args = argumentsOf(method, true);
    if (!args) return;
    const request = requestOf(method, args, surfaceOf(method), ++last);
    const mine = last;
    const outcome = method.querySelector(".outcome");
    const button = method.querySelector("button[type=submit]");
    outcome.className = "outcome";
    outcome.replaceChildren(element("p", say("calling")));
    button.setAttribute("aria-busy", "true");
    const headers = { ...request.headers };
    if (token.value) headers.Authorization = `Bearer ${token.value}`;
    const sent = Object.entries({ ...headers, ...(token.value ? { Authorization: "Bearer ••••" } : {}) });
    const lines = [`POST ${request.path}`, ...sent.map(([name, value]) => `${name}: ${value}`)];
    const wire = method.querySelector(".exchange");
    wire.hidden = false;
    wire.querySelector(".request").textContent = `${lines.join("\n")}\n\n${readable(request.body)}`;
    wire.querySelector(".response").textContent = "";
    method.dataset.call = mine;
    const began = performance.now();
    try {
      const answer = await fetch(request.path, { method: "POST", headers, body: request.body, credentials: "omit", cache: "no-store", redirect: "error" });
      const text = await answer.text();
      if (method.dataset.call !== String(mine)) return;
      const ms = Math.round(performance.now() - began);
      const fields = [...answer.headers].map(([name, value]) => `${name}: ${value}`);
      wire.querySelector(".response").textContent = `HTTP ${answer.status}\n${fields.join("\n")}\n\n${readable(text)}`;
      show(method, outcome, { status: answer.status, type: answer.headers.get("content-type") || "", text }, ms);
    } catch (problem) {
      if (method.dataset.call !== String(mine)) return;
      outcome.className = "outcome bad";
      outcome.replaceChildren(element("p", say("unreachable"), "strong"), element("p", String(problem)));
    } finally {
      button.removeAttribute("aria-busy");
    }
  }

  // --- snippets ---------------------------------------------------------------------------------------------------

  const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  function curl(request) {
    const lines = [`curl ${quoted(location.origin + request.path)}`];
    for (const [name, value] of Object.entries(request.headers)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
    if (page.dataset.protected) lines.push('-H "Authorization: Bearer $RPCGW_TOKEN"');
    lines.push(`-d ${quoted(request.body)}`);
    return lines.join(" \\\n  ");
  }

  function python(request) {
    const headers = Object.entries(request.headers).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`);
    if (page.dataset.protected) headers.push('    "Authorization": f"Bearer {os.environ[\'RPCGW_TOKEN\']}",');
    return [
      ...(page.dataset.protected ? ["import os"] : []),
      "from urllib.request import Request, urlopen",
      "",
      "headers = {",
      ...headers,
      "}",
      `body = ${JSON.stringify(request.body)}`,
      `request = Request(${JSON.stringify(location.origin + request.path)}, body.encode(), headers)`,
      "with urlopen(request) as answer:",
      "    print(answer.read().decode())",
    ].join("\n");
  }

  function agent() {
    const secret = page.dataset.protected ? ' \\\n  --header "Authorization: Bearer $RPCGW_TOKEN"' : "";
    return `claude mcp add --transport http ${page.dataset.server} ${quoted(location.origin + page.dataset.mcp)}${secret}`;
  }

  function write(method) {
    const request = requestOf(method, argumentsOf(method, false), surfaceOf(method), 1);
    method.querySelector("pre.curl").textContent = curl(request);
    method.querySelector("pre.python").textContent = python(request);
    const setup = method.querySelector("pre.agent");
    if (setup) setup.textContent = agent();
  }

  async function copy(button) {
    const pre = button.closest(".snippet").querySelector("pre");
    try {
      await navigator.clipboard.writeText(pre.textContent);
    } catch {
      // pages without a secure context have no clipboard of that kind
      getSelection().selectAllChildren(pre);
      document.execCommand("copy");
    }
    const label = button.firstChild;
    label.textContent = say("copied");
    setTimeout(() => { label.textContent = say("copy"); }, 1500);
  }

  // --- the page ---------------------------------------------------------------------------------------------------

  const methods = [...document.querySelectorAll("details.method")];
  const words = new Map(methods.map((method) => [method, `${method.querySelector("summary").textContent} ${method.querySelector(".description")?.textContent || ""}`.toLowerCase()]));
  let waiting = 0;

  function search(text) {
    const parts = text.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const method of methods) {
      method.hidden = !parts.every((part) => words.get(method).includes(part));
      if (!method.hidden) found += 1;
    }
    document.getElementById("nothing").hidden = found > 0;
    document.getElementById("count").textContent = parts.length ? `${say("found")}: ${found}` : "";
  }

  const box = document.getElementById("search");
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => search(box.value), DELAY);
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      box.focus();
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.closest("form")?.requestSubmit();
  });

  for (const method of methods) {
    const form = method.querySelector("form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      call(method);
    });
    form.addEventListener("input", (event) => {
      const field = event.target.closest(".field");
      if (field) {
        complain(field, "");
        const isNull = field.querySelector(".null input");
        if (isNull) inputOf(field).disabled = isNull.checked;
      }
      write(method);
    });
    method.addEventListener("toggle", () => write(method), { once: true });
    for (const button of method.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button));
  }

  function openNamed() {
    const named = methods.find((method) => `#${encodeURIComponent(method.id)}` === location.hash || `#${method.id}` === location.hash);
    if (named) named.open = true;
  }
  addEventListener("hashchange", openNamed);
  openNamed();
  if (methods.length === 1) methods[0].open = true;
})();
