// The official TypeScript client, 2.x: node client2.mjs '{"target": URL, "mode": null (a session) | "auto" | a revision, ...}'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { target, calls, languages, mode } = JSON.parse(process.argv[2]);
const options = mode ? { versionNegotiation: { mode: mode.startsWith('20') ? { pin: mode } : mode } } : {};
const report = { texts: {} };
for (const language of languages) {
  const requestInit = { headers: { 'Accept-Language': language } };
  const transport = new StreamableHTTPClientTransport(new URL(target), { requestInit });
  const client = new Client({ name: 'test', version: '1' }, options);
  await client.connect(transport);
  const { tools } = await client.listTools();
  report.protocol = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null;
  report.server = client.getServerVersion() ?? null;
  report.tools = tools.map(entry => entry.name);
  report.texts[language] = Object.fromEntries(tools.map(entry => [entry.name, [entry.title, entry.description]]));
  if (language === languages[0]) {
    report.calls = [];
    for (const each of calls) report.calls.push(await call(client, ...each));
  }
  await client.close();
}
console.log(JSON.stringify(report));

async function call(client, name, args) {
  try {
    const called = await client.callTool({ name, arguments: args });
    return { content: called.content, structured: called.structuredContent ?? null, is_error: called.isError ?? false };
  } catch (error) {
    return { code: error.code ?? null, message: error.message };
  }
}
