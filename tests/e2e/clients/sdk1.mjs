// The official TypeScript SDK, 1.x, which knows sessions only: node sdk1.mjs '{"target": URL, "calls": ..., "languages": ...}'
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { target, calls, languages } = JSON.parse(process.argv[2]);
const report = { texts: {} };
for (const language of languages) {
  const requestInit = { headers: { 'Accept-Language': language } };
  const transport = new StreamableHTTPClientTransport(new URL(target), { requestInit });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  report.protocol = transport.protocolVersion;
  report.server = client.getServerVersion() ?? null;
  report.tools = tools.map(entry => entry.name);
  report.texts[language] = Object.fromEntries(tools.map(entry => [entry.name, [entry.title, entry.description]]));
  if (language === languages[0]) {
    report.calls = [];
    for (const each of calls) report.calls.push(await call(client, ...each));
  }
  await transport.terminateSession();
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
