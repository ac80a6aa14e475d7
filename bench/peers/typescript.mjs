// The official TypeScript SDK 1.x on Node's own HTTP server, stateless, JSON answers. argv: port, folder of node_modules.
import { createServer } from "node:http";
import { createRequire } from "node:module";

const [port, modules] = process.argv.slice(2);
const load = createRequire(`${modules}/`);
const { McpServer } = load("@modelcontextprotocol/sdk/server/mcp.js");
const { StreamableHTTPServerTransport } = load("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { z } = load("zod");

// A transport without sessions answers one request: the SDK's own example makes both anew for each.
function make() {
  const server = new McpServer({ name: "bench", version: "1" });
  server.registerTool(
    "discounted",
    {
      description: "What a price becomes after a discount, rounded down to whole cents.",
      inputSchema: { cents: z.number().int().min(0), percent: z.number().int().min(0).max(100) },
      outputSchema: { result: z.number().int() },
    },
    async ({ cents, percent }) => {
      const result = Math.floor((cents * (100 - percent)) / 100);
      return { content: [{ type: "text", text: String(result) }], structuredContent: { result } };
    },
  );
  return server;
}

createServer(async (request, response) => {
  const server = make();
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  response.on("close", () => {
    transport.close();
    server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(request, response);
}).listen(Number(port), "127.0.0.1");
