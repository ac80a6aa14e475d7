// The official TypeScript SDK, 1.x, which knows sessions only: node sdk1.mjs URL TOOL ARGUMENTS
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, tool, args] = process.argv.slice(2);
const transport = new StreamableHTTPClientTransport(new URL(url));
const client = new Client({ name: 'test', version: '1' });
await client.connect(transport);
const { tools } = await client.listTools();
const called = await client.callTool({ name: tool, arguments: JSON.parse(args) });
console.log(JSON.stringify({
  protocol: transport.protocolVersion,
  server: client.getServerVersion() ?? null,
  tools: tools.map(entry => entry.name),
  content: called.content,
  structured: called.structuredContent ?? null,
  is_error: called.isError ?? false,
}));
await transport.terminateSession();
await client.close();
