// The official TypeScript client, 2.x: node client2.mjs URL TOOL ARGUMENTS [auto | a revision]; without it, a session
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, tool, args, mode] = process.argv.slice(2);
const options = mode ? { versionNegotiation: { mode: mode.startsWith('20') ? { pin: mode } : mode } } : {};
const transport = new StreamableHTTPClientTransport(new URL(url));
const client = new Client({ name: 'test', version: '1' }, options);
await client.connect(transport);
const { tools } = await client.listTools();
const called = await client.callTool({ name: tool, arguments: JSON.parse(args) });
console.log(JSON.stringify({
  protocol: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null,
  server: client.getServerVersion() ?? null,
  tools: tools.map(entry => entry.name),
  content: called.content,
  structured: called.structuredContent ?? null,
  is_error: called.isError ?? false,
}));
await client.close();
