// A client that @open-rpc/generator makes of a document, and calls with it:
// node openrpc.mjs '{"document": {...}, "url": URL, "calls": [[method, [values]], ...]}'
//
// The generator (1.22) writes a method's name as it is where a TypeScript class has its own; a name with a dot must
// stand in quotes there. Nothing else of what it writes is touched.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(join(process.cwd(), 'package.json'));
const typescript = require('typescript');
const generate = require('@open-rpc/generator').default;

const { document, url, calls } = JSON.parse(process.argv[2]);
const log = console.log;
console.log = () => {};
const { hostname, port, pathname } = new URL(url);
const [client] = Object.values(load(await source()));
const made = new client({ transport: { type: 'http', host: hostname, port, path: pathname } });
const report = { calls: [] };
for (const [method, values] of calls) report.calls.push(await call(method, values));
log(JSON.stringify(report));

async function source() {
  const folder = mkdtempSync(join(tmpdir(), 'openrpc-'));
  try {
    const components = [{ type: 'client', name: 'made', language: 'typescript' }];
    await generate({ openrpcDocument: document, outDir: folder, components });
    const text = readFileSync(join(folder, 'client', 'typescript', 'src', 'index.ts'), 'utf8');
    return text.replace(/^  public (\w+(?:\.\w+)+):/gm, '  public "$1":');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function load(text) {
  const compilerOptions = { module: 'commonjs', target: 'es2022', esModuleInterop: true };
  const { outputText, diagnostics } = typescript.transpileModule(text, { compilerOptions, reportDiagnostics: true });
  if (diagnostics.length) throw new Error(diagnostics.map(each => JSON.stringify(each.messageText)).join('\n'));
  const module = { exports: {} };
  new Function('require', 'module', 'exports', outputText)(require, module, module.exports);
  return module.exports;
}

async function call(method, values) {
  try {
    return { result: await made[method](...values) };
  } catch (error) {
    if (Array.isArray(error)) return { refused: error.map(each => each.message) };
    return { code: error.code, message: error.message };
  }
}
