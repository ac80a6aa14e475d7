// @ts-check
// Registers the tools of a page with the visitor's browser.
//
//   <script type="application/json" id="webmcp-config">{"endpoint": ..., "tools": [...]}</script>
//   <script src="/webmcp/webmcp.js" defer></script>
//
// or, in pages that are not made for it, data-config="/webmcp/config.json" on the script itself. What stands in the
// configuration is docs/reference/webmcp-payload.md. Nothing here throws, and where the browser has no tools, nothing
// happens. A page that changes its tools calls rpcgw.refresh().

/**
 * @typedef {Record<string, any>} Fields
 * @typedef {{content: {type: string, text?: string}[], structuredContent?: any, isError?: boolean}} Result
 * @typedef {{name: string, title?: string, description: string, inputSchema: Fields, outputSchema?: Fields,
 *   primitive: string, data: Fields, moduleUrl?: string, annotations: Record<string, boolean>, confirm?: Fields}} Tool
 * @typedef {Fields & {endpoint?: string, origins: string[], messages: Fields, tools: Tool[]}} Config
 * @typedef {{tool: Tool, data: Fields, args: Fields, config: Config, client: string, signal?: AbortSignal}} Visit
 * @typedef {{result: Result, after?: () => void}} Ending
 * @typedef {{text: string, controller: AbortController, state: string}} Entry
 */

(() => {
  "use strict";

  const w = /** @type {Window & {rpcgw?: {refresh: () => Promise<any>}}} */ (window);
  if (w.rpcgw?.refresh) {
    w.rpcgw.refresh();
    return;
  }

  const { isArray } = Array;
  const { entries, fromEntries, hasOwn, keys } = Object;
  const { stringify } = JSON;
  const encoded = encodeURIComponent;
  const script = /** @type {HTMLScriptElement | null} */ (document.currentScript);
  const MAIL = 1800;
  const LARGEST = 2e6;
  const INDEX_ITEMS = 10000;
  const QUERY = 200;
  const FIELD = 500;
  const FETCH_MS = 10000;
  const LEAVE_MS = 80; // the answer goes out first: a page that is left at once may take it along
  const DEPTH = 32;
  const AGENTS =
    /ChatGPT|GPTBot|OAI-SearchBot|Claude(Bot|-User)?|Anthropic|Perplexity(Bot)?|Gemini|Copilot|Bytespider/;

  /** What is said in English where the configuration has no `messages` for it. @type {Record<string, string>} */
  const TEXTS = {
    ask: "An assistant asks to use “{tool}”.",
    accept: "Continue",
    decline: "Cancel",
    close: "Close",
    open: "Open the mail",
    invalid: "The arguments are wrong: {faults}.",
    declined: "The visitor declined.",
    silent: "The visitor did not answer.",
    aborted: "The call was stopped.",
    failed: "The tool failed.",
    address: "The address {url} is not allowed here.",
    late: "{url} did not answer in time.",
    lost: "{url} could not be reached.",
    status: "{url} answered with HTTP {status}.",
    json: "{url} did not answer with JSON.",
    large: "{url} answered with too much.",
    list: "{url} is not a list.",
    mailbox: "The site has no valid address for this mail.",
    long: "The mail is {count} characters too long; shorten the message.",
    module: "The tool's module could not be loaded.",
    execute: "The tool's module has no function execute.",
    cut: " … [cut]",
  };

  /** What ends a call without a result; the outcome is told to the site's owner, the message to the agent. */
  class Refusal extends Error {
    /** @param {string} message @param {string} [outcome] */
    constructor(message, outcome = "error") {
      super(message);
      this.outcome = outcome;
    }
  }

  // --- values: what agents, indexes and modules hand over is data, of which own properties count --------------------

  /** @param {any} value @returns {value is Fields} */
  const isObject = (value) => typeof value === "object" && value !== null && !isArray(value);
  /** @param {any} object @param {string} key */
  const own = (object, key) => (object != null && hasOwn(object, key) ? object[key] : undefined);
  /** @param {any} value */
  const toText = (value) => (value == null ? "" : typeof value === "object" ? stringify(value) : `${value}`).toWellFormed();

  /** What was said once is not said again. @type {Set<string>} */
  const warned = new Set();
  /** @param {string} text */
  const warn = (text) => warned.has(text) || (warned.add(text), console.warn(`rpcgw: ${text}`));

  /** A copy as JSON, without what reaches for prototypes; throws where JSON has no form for it. @param {any} value */
  const plain = (value) => {
    const text = stringify(value, (key, each) =>
      /^(__proto__|constructor|prototype)$/.test(key) ? undefined : typeof each === "bigint" ? `${each}` : each,
    );
    return text && JSON.parse(text);
  };

  /** @param {any} value @returns {any} */
  const frozen = (value) => {
    if (typeof value === "object" && value) Object.values(Object.freeze(value)).forEach(frozen);
    return value;
  };

  /** Fills each `{name}`; an unknown one is empty. @param {string} template @param {Fields} values @param {(text: string) => string} encode */
  const fill = (template, values, encode = String) =>
    template.replace(/\{([\p{L}\p{N}_-]+)\}/gu, (_, name) => encode(toText(own(values, name))));

  /** @param {Config} config @param {string} key @param {Fields} values */
  const say = (config, key, values = {}) => fill(config.messages?.[key] || TEXTS[key], values);

  /** @param {Config} config @param {string} key @param {Fields} [values] @param {string} [outcome] */
  const refusal = (config, key, values, outcome) => new Refusal(say(config, key, values), outcome);

  /** One line, without control, direction, invisible and tag characters. @param {any} value */
  const clean = (value) => toText(value).replace(/[\p{C}\p{Z}]+/gu, " ").trim();

  /** @param {string} text @param {number} limit @param {string} mark */
  const cut = (text, limit, mark = "…") =>
    text.length <= limit ? text : (text.slice(0, Math.max(0, limit - mark.length)).replace(/[\uD800-\uDBFF]$/, "") + mark).slice(0, limit);

  /** @param {string} text @param {any} [data] @returns {Result} */
  const said = (text, data) => ({
    content: [{ type: "text", text }],
    ...(data === undefined ? {} : { structuredContent: data }),
  });

  // --- addresses ----------------------------------------------------------------------------------------------------

  /** An address of this site, or of an origin that the configuration lists. @param {string} text @param {Config} config */
  const address = (text, config) => {
    const url = URL.parse(text, document.baseURI);
    const known = url && (url.origin === location.origin || config.origins?.includes(url.origin));
    if (known && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url;
    throw refusal(config, "address", { url: clean(text) });
  };

  /** @param {URL} url @param {Config} config @param {AbortSignal | undefined} signal @param {RequestInit} [init] */
  const request = async (url, config, signal, init) => {
    const late = AbortSignal.timeout(FETCH_MS);
    const refuse = (/** @type {string} */ key, status = 0) => refusal(config, key, { url: url.pathname, status });
    try {
      const answer = await fetch(url, {
        redirect: url.origin === location.origin ? "follow" : "error",
        signal: signal ? AbortSignal.any([signal, late]) : late,
        ...init,
      });
      const isJson = /\bjson\b/i.test(answer.headers.get("content-type") ?? "");
      if (!answer.ok && !(init?.method && isJson)) throw refuse("status", answer.status);
      if (!isJson) throw refuse("json");
      const text = await answer.text();
      if (text.length > LARGEST) throw refuse("large");
      return JSON.parse(text);
    } catch (problem) {
      if (problem instanceof Refusal || signal?.aborted) throw problem;
      throw refuse(late.aborted ? "late" : problem instanceof SyntaxError ? "json" : "lost");
    }
  };

  // --- arguments against their schema: the keywords that browsers are going to keep ---------------------------------

  /** @type {Record<string, (value: any) => boolean>} */
  const TYPES = {
    string: (value) => typeof value === "string",
    number: Number.isFinite,
    integer: Number.isInteger,
    boolean: (value) => typeof value === "boolean",
    array: isArray,
    object: isObject,
    null: (value) => value === null,
  };
  /** @param {any} value */
  const size = (value) => (typeof value === "number" ? value : [...value].length);
  /** @type {Record<string, (by: number) => boolean>} */
  const SIGNS = { ">=": (by) => by >= 0, "<=": (by) => by <= 0, ">": (by) => by > 0, "<": (by) => by < 0 };
  const BOUNDS = [
    ["minimum", "number", ">="],
    ["maximum", "number", "<="],
    ["exclusiveMinimum", "number", ">"],
    ["exclusiveMaximum", "number", "<"],
    ["minLength", "string", ">="],
    ["maxLength", "string", "<="],
    ["minItems", "array", ">="],
    ["maxItems", "array", "<="],
  ];

  /** @param {string} pattern @param {string} value */
  const fits = (pattern, value) => {
    try {
      return new RegExp(pattern, "u").test(value);
    } catch {
      return true; // a pattern of another language is the server's to check
    }
  };

  /** What is wrong with a value, a text each with its path. @param {any} schema @param {any} value @param {string} path @param {any} root @param {number} depth @returns {string[]} */
  const faults = (schema, value, path, root = schema, depth = 0) => {
    if (schema === false) return [`${path} is not taken`];
    if (!isObject(schema)) return [];
    if (depth > DEPTH) return [`${path} is nested too deeply`];
    /** @param {any} inner @param {any} each @param {string} [at] */
    const inside = (inner, each, at = path) => faults(inner, each, at, root, depth + 1);
    const under = (/** @type {string} */ name) => (path === "arguments" ? name : `${path}.${name}`);
    const types = [own(schema, "type") ?? []].flat();
    if (types.length && !types.some((type) => own(TYPES, type)?.(value))) return [`${path} must be of type ${types.join(" or ")}`];
    const found = BOUNDS.filter(([key, type, sign]) => key in schema && TYPES[type](value) && !SIGNS[sign](size(value) - schema[key])).map(
      ([key, type, sign]) => `${path} must ${type === "number" ? "be" : "have a length"} ${sign} ${schema[key]}`,
    );
    const texts = schema.enum?.map(toText);
    if (texts && !schema.enum.some((/** @type {any} */ each) => typeof each === typeof value && toText(each) === toText(value))) {
      found.push(`${path} must be one of ${texts.join(", ")}`);
    }
    if (schema.pattern && TYPES.string(value) && !fits(schema.pattern, value)) found.push(`${path} must match ${schema.pattern}`);
    if (isObject(value)) {
      for (const name of own(schema, "required") ?? []) if (!hasOwn(value, name)) found.push(`${under(name)} is missing`);
      for (const [name, each] of entries(value)) {
        found.push(...inside(own(schema.properties, name) ?? schema.additionalProperties, each, under(name)));
      }
    }
    if (isArray(value)) {
      value.forEach((each, at) => found.push(...inside(schema.prefixItems?.[at] ?? schema.items, each, `${path}[${at}]`)));
    }
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices && choices.every((/** @type {any} */ each) => inside(each, value).length)) found.push(`${path} has none of the forms that it may have`);
    for (const each of schema.allOf ?? []) found.push(...inside(each, value));
    if (schema.$ref?.[0] === "#") found.push(...inside(schema.$ref.split("/").slice(1).reduce(own, root), value));
    return found;
  };

  /** The schema that the browser is told, with room for who calls. @param {Tool} tool @param {Config} config @returns {Fields} */
  const schemaOf = ({ inputSchema }, { clientHint }) => {
    const { properties = {} } = inputSchema;
    if (clientHint === false || hasOwn(properties, "client")) return inputSchema;
    const client = { type: "string", description: "Who calls: the assistant's name." };
    return { ...inputSchema, properties: { ...properties, client } };
  };

  /** The arguments themselves: some agents wrap them once more. @param {any} input @param {Fields} schema @returns {Fields} */
  const unwrapped = (input = {}, schema) => {
    const inner = own(input, "arguments");
    const wrapped = isObject(inner) && !own(schema.properties, "arguments") && keys(input).every((key) => /^(arguments|client)$/.test(key));
    return wrapped ? { ...(input.client && { client: input.client }), ...inner } : input;
  };

  /** Who calls, by its own word or by the browser's. @param {any} hint */
  const clientOf = (hint) => {
    const named = typeof hint === "string" && hint ? hint : (navigator.userAgent.match(AGENTS)?.[0] ?? "");
    const kept = named.replace(/[^\p{L}\p{N} ._\-/()]/gu, " ").replace(/ +/g, " ").trim();
    return [...kept].slice(0, 64).join("").trim() || "unknown";
  };

  // --- what the visitor sees: a dialog that asks, or a note with a link ---------------------------------------------

  const STYLE = `
:host{all:initial;color-scheme:light dark}
dialog{box-sizing:border-box;width:min(30rem,100vw - 2rem);padding:1.25rem;border:1px solid;border-radius:.75rem;font:1rem/1.5 system-ui,sans-serif}
dialog:not(:modal){position:fixed;inset:auto 1rem 1rem auto;z-index:2147483647}
::backdrop{background:#000a}
h2,p,dl{font-size:1rem;margin:0 0 .75rem}
dd{margin:0 0 .5rem;font-weight:600;overflow-wrap:anywhere}
div{display:flex;flex-wrap:wrap;gap:.75rem;justify-content:end}
button,a{font:inherit;color:inherit;background:none;padding:.5rem 1.25rem;border:1px solid;border-radius:.5rem}
.go{background:light-dark(#0b57c2,#86b6ff);color:light-dark(#fff,#0c1a2e)}`;

  /** @param {string} name @param {Record<string, string>} attributes @param {...(Node | string)} inner @returns {HTMLElement} */
  const element = (name, attributes, ...inner) => {
    const made = document.createElement(name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    made.append(...inner);
    return made;
  };

  /** @param {EventTarget} target @param {string} event @param {(event: Event) => any} listener */
  const on = (target, event, listener) => target.addEventListener(event, listener);

  /** In a shadow root the page's styles do not reach it, and a strict CSP lets it have its own. @param {string} kind @param {string} title @param {Node[]} inner @param {Node[]} buttons */
  const dialogOf = (kind, title, inner, ...buttons) => {
    const host = element(kind, {});
    const root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    const dialog = /** @type {HTMLDialogElement} */ (
      element("dialog", { "aria-labelledby": "title" }, element("h2", { id: "title" }, title), ...inner, element("div", {}, ...buttons))
    );
    root.append(dialog);
    document.body.append(host);
    on(dialog, "close", () => host.remove());
    return dialog;
  };

  let asking = Promise.resolve();

  /** Asks the visitor, one question after another. @param {Visit} visit @returns {Promise<void>} */
  const ask = (visit) => {
    const turn = asking.then(() => askNow(visit));
    asking = turn.catch(() => {});
    return turn;
  };

  /** @param {Visit} visit @returns {Promise<void>} */
  const askNow = ({ tool, data, args, signal, config }) => {
    signal?.throwIfAborted();
    const { text, accept, decline, seconds } = /** @type {Fields} */ (tool.confirm);
    const name = tool.title || tool.name;
    const go = element("button", { class: "go" }, accept || say(config, "accept"));
    const stay = element("button", { autofocus: "" }, decline || say(config, "decline"));
    const given = keys(args).filter((key) => key !== "client");
    const list = given.flatMap((key) => [element("dt", {}, key), element("dd", {}, cut(toText(args[key]), FIELD))]);
    const question = element("p", { id: "text" }, text ? fill(text, args) : say(config, "ask", { tool: name }));
    const dialog = dialogOf("rpcgw-dialog", name, given.length ? [question, element("dl", {}, ...list)] : [question], stay, go);
    dialog.setAttribute("aria-describedby", "text");
    return new Promise((resolve, reject) => {
      /** @param {any} [problem] */
      const end = (problem) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        if (problem) reject(problem);
        else resolve();
        dialog.close();
      };
      const abort = () => end(signal?.reason);
      const timer = setTimeout(() => end(refusal(config, "silent", {}, "declined")), seconds * 1000);
      if (signal) on(signal, "abort", abort);
      on(go, "click", (event) => event.isTrusted && end()); // a script of the page is not the visitor
      on(stay, "click", () => dialog.close());
      on(dialog, "close", () => end(new Refusal(fill(data.messages?.cancelled || say(config, "declined"), args), "declined")));
      dialog.showModal();
    });
  };

  /** A note that stays until it is closed, with a link to follow. @param {string} title @param {string} url @param {Config} config */
  const note = (title, url, config) => {
    document.querySelector("rpcgw-note")?.remove();
    const close = element("button", {}, say(config, "close"));
    const dialog = dialogOf("rpcgw-note", title, [], close, element("a", { class: "go", href: url }, say(config, "open")));
    on(close, "click", () => dialog.close());
    dialog.open = true; // where show() would take the focus
  };

  // --- primitives: from a visit to how it ends; what they throw is the call's failure -------------------------------

  /** @param {string} url */
  const leave = (url) => setTimeout(() => location.assign(url), LEAVE_MS);

  /** The option that was chosen, known before anything else is looked at. @param {Visit} visit */
  const optionOf = ({ data: { options, param, messages }, args }) => {
    const value = toText(own(args, param));
    const matches = options.map((/** @type {Fields} */ each) => each.match);
    if (matches.includes(value)) return options[matches.indexOf(value)];
    throw new Refusal(fill(messages.unknown, { ...args, options: matches.join(", ") }), "invalid");
  };

  /** @type {Map<string, Fields[]>} */
  const indexes = new Map();

  /** An index is fetched once a page; a failure is not kept. @param {Visit} visit @returns {Promise<Fields[]>} */
  const indexOf = async ({ data, config, signal }) => {
    const url = address(data.indexUrl, config);
    const kept = indexes.get(url.href);
    if (kept) return kept;
    const found = await request(url, config, signal, { headers: { Accept: "application/json" } });
    if (!isArray(found)) throw refusal(config, "list", { url: url.pathname });
    const items = found.filter(isObject).slice(0, INDEX_ITEMS);
    indexes.set(url.href, items);
    return items;
  };

  /** Without marks and case: a word is found however it is written. @param {any} text */
  const folded = (text) => toText(text).normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  /** What others wrote, as data: no hidden characters, and no address that would run something. @param {any} value @returns {any} */
  const harmless = (value) => {
    if (isArray(value)) return value.map(harmless);
    if (isObject(value)) return fromEntries(entries(value).map(([key, each]) => [key, harmless(each)]));
    if (typeof value !== "string") return value;
    const text = clean(value);
    return /^(javascript|data|vbscript):/i.test(text.replaceAll(" ", "")) ? "" : cut(text, FIELD);
  };

  /** @param {string} heading @param {string} line @param {Fields[]} items */
  const listing = (heading, line, items) =>
    [heading, ...items.map((item, at) => fill(line, { ...item, n: at + 1 }))].filter(Boolean).join("\n");

  /** @type {Record<string, (visit: Visit) => Ending | Promise<Ending>>} */
  const PRIMITIVES = {
    __proto__: /** @type {any} */ (null),

    navigate(visit) {
      const option = optionOf(visit);
      const url = address(option.url, visit.config).href;
      const text = fill(visit.data.messages.success, { ...visit.args, ...option });
      return { result: said(text, { label: option.label, url }), after: () => leave(url) };
    },

    async search(visit) {
      const { data, args, config } = visit;
      const { queryParam, limitDefault, limitMaximum, resultFields, deepLinkTemplate, text } = data;
      const query = cut(clean(own(args, queryParam)), QUERY);
      if (!query && data.queryRequired) throw refusal(config, "invalid", { faults: `${queryParam} is missing` }, "invalid");
      const limit = Math.min(Math.max(1, Math.trunc(own(args, data.limitParam) ?? limitDefault) || limitDefault), limitMaximum);
      const terms = folded(query).split(" ").filter(Boolean);
      const hits = (await indexOf(visit)).filter((item) => {
        const content = folded(data.searchFields.map((/** @type {string} */ name) => toText(own(item, name))).join(" "));
        return terms.every((term) => content.includes(term));
      });
      /** @type {string[][] | undefined} */
      const fields = resultFields && (isArray(resultFields) ? resultFields.map((name) => [name, name]) : entries(resultFields));
      const results = hits.slice(0, limit).map((item) =>
        harmless(plain(fields ? fromEntries(fields.filter(([, from]) => hasOwn(item, from)).map(([to, from]) => [to, item[from]])) : item)),
      );
      const counts = { count: results.length, total: hits.length };
      const heading = results.length ? (!query && text.headingAll) || text.heading : query ? text.emptyQuery : text.emptyAll;
      const link = deepLinkTemplate && address(fill(deepLinkTemplate, { ...args, [queryParam]: query }, encoded), config).href;
      return {
        result: said(listing(fill(heading, { ...args, ...counts, query }), text.line, results), {
          ...counts,
          [queryParam]: query,
          [data.resultKey]: results,
          ...(link && { searchUrl: link }),
        }),
      };
    },

    mailto({ data, args, config }) {
      const to = new TextDecoder().decode(Uint8Array.from(atob(data.to), (each) => each.charCodeAt(0)));
      if (!/^[^\s?&,;:%<>()[\]"\\@]+@[\p{L}\p{N}.-]+$/u.test(to)) throw refusal(config, "mailbox");
      const values = { ...args, to };
      const subject = clean(fill(data.subjectTemplate, values));
      const lines = [];
      for (const { label, param, optional } of data.bodyLines) {
        const value = clean(own(args, param));
        if (value || !optional) lines.push(`${clean(label)}: ${value}`);
      }
      const message = toText(data.messageParam && own(args, data.messageParam));
      if (message) lines.push(...(lines.length ? [""] : []), ...message.split(/\r\n?|\n/).map(clean));
      const [user, domain] = to.split("@").map(encoded);
      const link = `mailto:${user}@${domain}?subject=${encoded(subject)}&body=${encoded(lines.join("\r\n"))}`;
      if (link.length > MAIL) throw refusal(config, "long", { count: link.length - MAIL }, "invalid");
      const text = fill(data.successTemplate, values);
      return {
        result: said(`${text}\n${link}`, { to, subject, body: lines.join("\n"), mailto: link }),
        after() {
          note(text, link, config);
          leave(link);
        },
      };
    },

    static: ({ data: { items, resultKey, text } }) => ({
      result: said(listing(fill(text.heading, { count: items.length }), text.line, items), { [resultKey]: items }),
    }),

    async module({ tool, args, config, client, signal }) {
      const url = address(tool.moduleUrl ?? "", config).href;
      const { execute } = await import(url).catch(() => {
        throw refusal(config, "module");
      });
      if (typeof execute !== "function") throw refusal(config, "execute");
      const value = plain(await execute({ client, ...args }, { tool, config, signal }));
      if (isArray(value?.content)) return { result: value };
      return { result: isObject(value) ? said(stringify(value), value) : said(toText(value)) };
    },

    async call({ tool, data, args, config, signal }) {
      const { client: _, ...rest } = args;
      const send = (/** @type {string} */ token) =>
        request(address(data.endpoint, config), config, signal, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: stringify({
            tool: tool.name,
            token,
            arguments: own(tool.inputSchema.properties, "client") ? args : rest,
            confirmed: Boolean(tool.confirm),
          }),
        });
      let found = await send(data.token);
      if (found?.error?.code === "token-expired") {
        const fresh = await request(address(config.config, config), config, signal);
        const same = fresh.tools.find((/** @type {Tool} */ each) => each.name === tool.name);
        if (same) found = await send(same.data.token);
      }
      if (isArray(found?.content)) return { result: found };
      throw new Refusal(clean(found?.error?.message) || say(config, "failed"));
    },

    form({ data: { selector, fields, submit, messages }, args }) {
      const form = /** @type {HTMLFormElement | null} */ (document.querySelector(selector));
      if (!form?.elements) throw new Refusal(messages.missing);
      const controls = /** @type {any} */ (form.elements);
      /** @type {string[]} */
      const refused = [];
      for (const { name, param } of fields) {
        const value = own(args, param);
        const control = controls.namedItem(name);
        if (value === undefined) continue;
        if (!control || /^(file|password|hidden)$/.test(control.type) || control.disabled) refused.push(name);
        else enter(control.forEach ? [...control] : [control], value);
      }
      for (const control of controls) {
        if (control.willValidate && !control.validity.valid) refused.push(`${control.name} (${control.validationMessage})`);
      }
      if (refused.length) throw new Refusal(fill(messages.invalid, { ...args, fields: refused.join(", ") }), "invalid");
      if (!submit) form.scrollIntoView({ block: "center" });
      return {
        result: said(fill(submit ? messages.submitted : messages.filled, args), { submitted: submit }),
        after: () => submit && setTimeout(() => form.requestSubmit(), LEAVE_MS),
      };
    },
  };

  /** As a visitor would, so that the page's own scripts notice. @param {any[]} controls @param {any} value */
  const enter = (controls, value) => {
    const texts = [value].flat().map(toText);
    for (const control of controls) {
      if (/^(checkbox|radio)$/.test(control.type)) control.checked = value === true || texts.includes(control.value);
      else if (control.options) for (const option of control.options) option.selected = texts.includes(option.value);
      else control.value = texts.join("\n");
      for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
    }
  };

  /** @param {Tool} tool */
  const primitiveOf = (tool) => PRIMITIVES[tool.primitive] ?? (tool.moduleUrl && PRIMITIVES.module);

  // --- one call -----------------------------------------------------------------------------------------------------

  /** Tells the site's owner, and nobody else; whether it arrives makes no difference to the call. @param {Config} config @param {Fields} news */
  const tell = ({ endpoint, beacon }, news) => {
    if (!endpoint || !news.call) return; // no secure context, no identifier
    const type = beacon === "text" ? "text/plain" : "application/json";
    const body = new Blob([stringify(news)], { type });
    try {
      if (navigator.sendBeacon(endpoint, body)) return;
      fetch(endpoint, { method: "POST", body, keepalive: true }).catch(() => {});
    } catch {
      // figures are worth less than the call
    }
  };

  /** Within the budget: text parts share it, and data has ten times as much. @param {Result} result @param {Config} config @returns {Result} */
  const budgeted = (result, config) => {
    let left = config.outputLimit;
    if (!left) return result;
    let data = result.structuredContent;
    while (data !== undefined && stringify(data).length > 10 * config.outputLimit) {
      const lists = keys(data).filter((key) => isArray(data[key]) && data[key].length);
      const longest = lists.sort((a, b) => stringify(data[b]).length - stringify(data[a]).length)[0];
      data = { ...(longest && { ...data, [longest]: data[longest].slice(0, data[longest].length / 2) }), truncated: true };
    }
    const content = result.content.map((part) => {
      if (part?.type !== "text") return part;
      const text = cut(toText(part.text), left, say(config, "cut"));
      left -= text.length;
      return { ...part, text };
    });
    return { ...result, content, ...(data === undefined ? {} : { structuredContent: data }) };
  };

  /** Never throws: a browser reduces what is thrown to one generic error. @param {Tool} tool @param {Config} config @param {any} input @param {any} options @returns {Promise<Result>} */
  const execute = async (tool, config, input, options) => {
    const began = performance.now();
    const call = crypto.randomUUID?.();
    const signal = options?.signal;
    /** @type {Ending} */
    let ending;
    let outcome = "ok";
    try {
      const schema = schemaOf(tool, config);
      const given = unwrapped(input, schema);
      const client = clientOf(own(given, "client"));
      tell(config, { tool: tool.name, client, call });
      const args = plain(given);
      const visit = { tool, data: tool.data, args, config, client, signal };
      if (tool.primitive === "navigate") optionOf(visit);
      const wrong = faults(schema, given, "arguments");
      if (wrong.length) throw refusal(config, "invalid", { faults: wrong.slice(0, 10).join("; ") }, "invalid");
      if (tool.confirm) await ask(visit);
      signal?.throwIfAborted();
      ending = await primitiveOf(tool)(visit);
      signal?.throwIfAborted();
      ending.result = budgeted(ending.result, config);
      if (ending.result.isError) outcome = "error";
    } catch (/** @type {any} */ problem) {
      outcome = problem instanceof Refusal ? problem.outcome : signal?.aborted ? "aborted" : "error";
      const text = outcome === "aborted" ? say(config, "aborted") : clean(problem?.message ?? problem) || say(config, "failed");
      ending = { result: { ...budgeted(said(text), config), isError: true } };
    }
    tell(config, { call, outcome, ms: Math.round(performance.now() - began) });
    try {
      ending.after?.();
    } catch {
      // the answer stands as it is
    }
    return ending.result;
  };

  // --- registration -------------------------------------------------------------------------------------------------

  /** @type {Map<string, Entry>} */
  const registered = new Map();

  /** @param {any} context @param {Tool} tool @param {Config} config @param {string} text */
  const register = async (context, tool, config, text) => {
    const { name, title, description, outputSchema, annotations } = tool;
    /** @type {Entry} */
    const entry = { text, controller: new AbortController(), state: "registered" };
    const { signal } = entry.controller;
    registered.get(name)?.controller.abort();
    registered.set(name, entry);
    try {
      if (!primitiveOf(tool)) throw new TypeError(`unknown primitive ${tool.primitive}`);
      await context.registerTool(
        {
          name,
          description,
          inputSchema: schemaOf(tool, config),
          annotations,
          ...(title && { title }),
          ...(outputSchema && { outputSchema }),
          execute: (/** @type {any} */ input, /** @type {any} */ options) => execute(tool, config, input, options),
        },
        { signal },
      );
    } catch (/** @type {any} */ problem) {
      if (signal.aborted) return; // a newer registration has taken its place
      entry.state = `${problem}`;
      warn(`the tool ${name} is not registered. ${problem}`);
    }
  };

  /** @returns {Promise<Config | undefined>} */
  const readConfig = async () => {
    const block = document.getElementById("webmcp-config");
    const from = script?.dataset.config;
    if (block) return JSON.parse(block.textContent);
    if (!from) return undefined;
    const asked = `${from}?path=${encoded(location.pathname)}&locale=${encoded(document.documentElement.lang)}`;
    return request(new URL(asked, document.baseURI), /** @type {any} */ ({}), undefined);
  };

  let known = false;

  const apply = async () => {
    if (!("modelContext" in document || "modelContext" in navigator)) return;
    const config = /** @type {Config} */ (frozen(await readConfig()));
    known = Boolean(config);
    const { tools, ...common } = config ?? {};
    if (!tools || (window.top !== window && !config.frames)) return;
    const context = /** @type {any} */ (config.legacyNavigator && !("modelContext" in document) ? navigator : document).modelContext;
    if (typeof context?.registerTool !== "function") return;
    /** @type {Map<string, Tool>} */
    const wanted = new Map();
    for (const tool of tools) {
      if (wanted.has(tool.name)) warn(`the tool ${tool.name} stands twice; the first one counts.`);
      else wanted.set(tool.name, tool);
    }
    for (const [name, entry] of registered) {
      if (wanted.has(name)) continue;
      entry.controller.abort();
      registered.delete(name);
    }
    await Promise.all(
      Array.from(wanted.values(), (tool) => {
        const text = stringify([tool, common]);
        return registered.get(tool.name)?.text === text || register(context, tool, config, text);
      }),
    );
  };

  /** Reads the page's tools anew, and returns what became of each: `{name: "registered"}`, or the browser's reason. */
  const refresh = async () => {
    try {
      await apply();
    } catch (/** @type {any} */ problem) {
      warn(`the tools of this page could not be read. ${problem?.message}`);
    }
    return fromEntries(Array.from(registered, ([name, { state }]) => [name, state]));
  };

  w.rpcgw = Object.freeze({ refresh });
  // A polyfill may come after this script, and a script in the head comes before the page's tools.
  const first = refresh();
  const again = () => first.then(() => (known ? first : refresh()));
  on(document, "DOMContentLoaded", again);
  on(window, "load", again);
})();
