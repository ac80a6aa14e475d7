// Whether the workshop is open now, in Kyiv: what the tool site_open_now runs.

const HOURS = { Mon: [9, 19], Tue: [9, 19], Wed: [9, 19], Thu: [9, 19], Fri: [9, 19], Sat: [10, 16] };
const SAID = {
  uk: { open: "Майстерня зараз відчинена.", shut: "Майстерня зараз зачинена." },
  en: { open: "The workshop is open now.", shut: "The workshop is closed now." },
};

export function execute(args, { tool }) {
  const format = new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Kyiv", weekday: "short", hour: "2-digit", hour12: false });
  const parts = Object.fromEntries(format.formatToParts(new Date()).map(({ type, value }) => [type, value]));
  const [from, to] = HOURS[parts.weekday] ?? [0, 0];
  const open = from <= Number(parts.hour) && Number(parts.hour) < to;
  const text = SAID[tool.data.language][open ? "open" : "shut"];
  return { content: [{ type: "text", text }], structuredContent: { open } };
}
