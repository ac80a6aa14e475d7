// The official TypeScript client, 2.x, that has to get itself a token: node client2_oauth.mjs '{"target": URL, "mode": ...}'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const { target, mode } = JSON.parse(process.argv[2]);
const options = mode === 'legacy' ? {} : { versionNegotiation: { mode: { pin: mode } } };

// Somebody who agrees to everything: follows the link, and brings back what the server answers.
const kept = {};
let cameBack;
const authProvider = {
  redirectUrl: 'http://127.0.0.1:1/callback',
  clientMetadata: { client_name: 'test', redirect_uris: ['http://127.0.0.1:1/callback'], token_endpoint_auth_method: 'none' },
  clientInformation: () => kept.client,
  saveClientInformation: client => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: tokens => { kept.tokens = tokens; },
  saveCodeVerifier: verifier => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: async url => {
    const answer = await fetch(url, { redirect: 'manual' });
    cameBack = new URL(answer.headers.get('location')).searchParams;
  },
};

const first = new StreamableHTTPClientTransport(new URL(target), { authProvider });
try {
  await new Client({ name: 'test', version: '1' }, options).connect(first);
  throw new Error('let in without a token');
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
await first.finishAuth(cameBack);
const transport = new StreamableHTTPClientTransport(new URL(target), { authProvider });
const client = new Client({ name: 'test', version: '1' }, options);
await client.connect(transport);
const { tools } = await client.listTools();
const called = await client.callTool({ name: 'Catalog.read', arguments: {} });
console.log(JSON.stringify({
  protocol: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null,
  tools: tools.map(tool => tool.name).sort(),
  called: called.structuredContent,
}));
await client.close();
