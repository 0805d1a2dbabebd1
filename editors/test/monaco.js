// Shows inlay hints and semantic tokens of bindc lsp in monaco, the editor of VS Code, in Chromium.
// Usage: node monaco.js BINDC DIR CHROMIUM, in a directory that has the packages vscode-languageserver-protocol and
// monaco-editor. The page gets its providers from this program, which forwards their requests to the server.
'use strict'
const { spawn } = require('child_process')
const fs = require('fs')
const http = require('http')
const path = require('path')
const { pathToFileURL } = require('url')
const { createRequire } = require('module')
const lsp = createRequire(path.join(process.cwd(), 'x.js'))('vscode-languageserver-protocol/node')

const [bindc, dir, chromium] = process.argv.slice(2)
const monaco = path.join(process.cwd(), 'node_modules', 'monaco-editor', 'min')
const file = path.join(dir, 'data', 'common.yaml')
const uri = pathToFileURL(file).href
const text = 'app::port: 80 # 😀\napp::host: "%{lookup(\'app::port\')} %{facts.os.family}"\n'
const write = (name, content) => {
  fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true })
  fs.writeFileSync(path.join(dir, name), content)
}
write('hiera.yaml', 'version: 5\nhierarchy:\n- {name: os, path: "os/%{facts.os.family}.yaml"}\n- {name: common, path: common.yaml}\n')
write('data/os/Debian.yaml', 'app::port: 8080\n')
write('data/common.yaml', text)

const server = spawn(bindc, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] })
const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(server.stdout),
  new lsp.StreamMessageWriter(server.stdin))
connection.onRequest(lsp.RegistrationRequest.type, () => {})
connection.listen()

const page = options => `<!DOCTYPE html><meta charset="utf-8">
<div id="editor" style="width:1200px;height:400px"></div>
<script src="vs/loader.js"></script>
<script>
const { uri, text, legend } = ${JSON.stringify(options).replaceAll('<', '\\u003c')}
const send = (url, body) => fetch(url, { method: 'POST', body: JSON.stringify(body) }).then(r => r.json())
window.onerror = m => send('result', { error: String(m) })
require.config({ paths: { vs: 'vs' } })
require(['vs/editor/editor.main'], () => {
  const ask = (method, more) => send('lsp', { method, params: { textDocument: { uri }, ...more } })
  const range = r => ({ start: { line: r.startLineNumber - 1, character: r.startColumn - 1 },
    end: { line: r.endLineNumber - 1, character: r.endColumn - 1 } })
  monaco.languages.registerInlayHintsProvider('yaml', { provideInlayHints: async (model, r) => ({
    dispose () {},
    hints: (await ask('textDocument/inlayHint', { range: range(r) })).map(h => ({ label: h.label, paddingLeft: h.paddingLeft,
      position: { lineNumber: h.position.line + 1, column: h.position.character + 1 } })) }) })
  monaco.languages.registerDocumentSemanticTokensProvider('yaml', {
    getLegend: () => legend, releaseDocumentSemanticTokens () {},
    provideDocumentSemanticTokens: async () =>
      ({ data: new Uint32Array((await ask('textDocument/semanticTokens/full')).data) }) })
  monaco.editor.defineTheme('test', { base: 'vs', inherit: true, colors: {}, rules: [
    { token: 'property', foreground: 'ff0000' }, { token: 'variable', foreground: '0000ff' }] })
  monaco.editor.create(document.getElementById('editor'), { model: monaco.editor.createModel(text, 'yaml'),
    theme: 'test', 'semanticHighlighting.enabled': true, inlayHints: { enabled: 'on' } })
  let left = 200
  const look = () => {
    const lines = document.querySelector('.view-lines')
    const shown = lines ? lines.textContent.replaceAll('\\u00a0', ' ') : ''
    const colored = color => [...document.querySelectorAll('.view-line span')].filter(s => s.children.length === 0 &&
      getComputedStyle(s).color === color).map(s => s.textContent)
    const found = { shown, keys: colored('rgb(255, 0, 0)'), variables: colored('rgb(0, 0, 255)') }
    const done = shown.includes('precedence 2 of 2') && found.keys.includes('app::host') &&
      found.keys.includes('app::port') && found.variables.includes('facts.os.family')
    done || left-- === 0 ? send('result', { ...found, done }) : setTimeout(look, 100)
  }
  look()
})
</script>`

async function main () {
  const folder = { uri: pathToFileURL(dir).href, name: 'site' }
  const { capabilities } = await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid, rootUri: folder.uri, workspaceFolders: [folder], capabilities: {},
    initializationOptions: { inlayHints: true, semanticTokens: true } })
  await connection.sendNotification(lsp.InitializedNotification.type, {})
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type,
    { textDocument: { uri, languageId: 'yaml', version: 1, text } })
  const html = page({ uri, text, legend: capabilities.semanticTokensProvider.legend })
  let finish
  const result = new Promise(resolve => { finish = resolve })
  const web = http.createServer(async (request, response) => {
    if (request.method === 'GET' && request.url === '/') {
      return response.setHeader('Content-Type', 'text/html').end(html)
    }
    if (request.method === 'GET') {
      const types = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' }
      const name = path.join(monaco, path.normalize(new URL(request.url, 'http://x').pathname))
      response.setHeader('Content-Type', types[path.extname(name)] || 'application/octet-stream')
      return fs.createReadStream(name).on('error', () => response.writeHead(404).end()).pipe(response)
    }
    let body = ''
    for await (const part of request) body += part
    const message = JSON.parse(body)
    if (request.url === '/result') { finish(message); return response.end('{}') }
    response.end(JSON.stringify(await connection.sendRequest(message.method, message.params)))
  })
  await new Promise(resolve => web.listen(0, '127.0.0.1', resolve))
  const profile = path.join(dir, '..', 'chromium')
  const browser = spawn(chromium, ['--headless=new', '--no-sandbox', '--disable-gpu', '--user-data-dir=' + profile,
    `http://127.0.0.1:${web.address().port}/`], { stdio: 'ignore' })
  const late = setTimeout(() => finish({ error: 'no result within 90 s' }), 90000)
  const found = await result
  clearTimeout(late)
  // The browser writes to its profile until it ends, and the caller removes the profile.
  await new Promise(resolve => { browser.on('exit', resolve); browser.kill() })
  server.kill()
  web.close()
  if (!found.done) throw new Error('monaco shows ' + JSON.stringify(found))
  console.log('monaco shows inlay hints and semantic tokens')
  process.exit(0)
}

main().catch(err => { console.error(err); server.kill(); process.exit(1) })
