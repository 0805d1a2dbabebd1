// Talks to bindc lsp with the reference implementation of the protocol, and checks each answer with it.
// Usage: node client.js BINDC DIR, in a directory that has the package vscode-languageserver-protocol.
'use strict'
const assert = require('assert')
const { spawn } = require('child_process')
const fs = require('fs')
const path = require('path')
const { pathToFileURL } = require('url')
const { createRequire } = require('module')
const lsp = createRequire(path.join(process.cwd(), 'x.js'))('vscode-languageserver-protocol/node')

const [bindc, dir] = process.argv.slice(2)
const file = path.join(dir, 'data', 'common.yaml')
const uri = pathToFileURL(file).href
const text = 'ntp::server: a\n# 😀\nmotd: "😀 ${lookup(\'ntp::servr\')}"\n'
fs.mkdirSync(path.dirname(file), { recursive: true })
fs.writeFileSync(path.join(dir, 'hiera.yaml'), 'version: 2\n')
fs.writeFileSync(file, text)

const server = spawn(bindc, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] })
const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(server.stdout),
  new lsp.StreamMessageWriter(server.stdin))
let published // the diagnostics of the file
let changed = () => {}
connection.onNotification(lsp.PublishDiagnosticsNotification.type, p => {
  if (p.uri === uri) { published = p.diagnostics; changed() }
})
connection.onRequest(lsp.RegistrationRequest.type, () => {})
connection.listen()

// until waits for diagnostics that satisfy a condition.
function until (what, holds) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('waited 10 s for ' + what + ', have ' + JSON.stringify(published))), 10000)
    changed = () => {
      if (published && holds(published)) { clearTimeout(late); resolve(published) }
    }
    changed()
  })
}

// at returns the text in a range. Columns count UTF-16 code units, as strings of JavaScript do.
const at = (source, r) => source.split('\n')[r.start.line].slice(r.start.character, r.end.character)

// apply returns a text after edits in one line each.
function apply (source, edits) {
  const lines = source.split('\n')
  for (const e of edits) {
    const line = lines[e.range.start.line]
    lines[e.range.start.line] = line.slice(0, e.range.start.character) + e.newText + line.slice(e.range.end.character)
  }
  return lines.join('\n')
}

async function main () {
  const folder = { uri: pathToFileURL(dir).href, name: 'site' }
  const { capabilities } = await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid, rootUri: folder.uri, workspaceFolders: [folder], capabilities: {} })
  assert(capabilities.hoverProvider && capabilities.definitionProvider && capabilities.codeActionProvider)
  await connection.sendNotification(lsp.InitializedNotification.type, {})
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type,
    { textDocument: { uri, languageId: 'yaml', version: 1, text } })

  const [d] = await until('the misspelt key', list => list.some(d => d.message.includes('ntp::servr')))
  assert(lsp.Diagnostic.is(d), 'not a diagnostic: ' + JSON.stringify(d))
  assert(d.codeDescription === undefined || d.codeDescription.href)
  const textDocument = { uri }
  const actions = await connection.sendRequest(lsp.CodeActionRequest.type,
    { textDocument, range: d.range, context: { diagnostics: [d] } })
  const fix = actions.find(a => a.isPreferred)
  assert(fix && lsp.CodeAction.is(fix), 'no preferred action in ' + JSON.stringify(actions))
  const edits = fix.edit.changes[uri]
  assert.deepStrictEqual(edits.map(e => [at(text, e.range), e.newText]), [['ntp::servr', 'ntp::server']])

  const mended = apply(text, edits)
  await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type,
    { textDocument: { uri, version: 2 }, contentChanges: edits.map(e => ({ range: e.range, text: e.newText })) })
  await until('no diagnostics', list => list.length === 0)

  const position = { line: 2, character: mended.split('\n')[2].indexOf('server') }
  const hover = await connection.sendRequest(lsp.HoverRequest.type, { textDocument, position })
  assert(lsp.Hover.is(hover) && JSON.stringify(hover).includes('ntp::server'), JSON.stringify(hover))
  const places = await connection.sendRequest(lsp.DefinitionRequest.type, { textDocument, position })
  assert.strictEqual([].concat(places)[0].range.start.line, 0)
  const symbols = await connection.sendRequest(lsp.DocumentSymbolRequest.type, { textDocument })
  assert.deepStrictEqual(symbols.map(s => s.name), ['ntp::server', 'motd'])
  const items = await connection.sendRequest(lsp.CompletionRequest.type, { textDocument, position })
  assert(JSON.stringify(items).includes('ntp::server'))

  await connection.sendRequest(lsp.ShutdownRequest.type)
  await connection.sendNotification(lsp.ExitNotification.type)
  await new Promise(resolve => server.on('exit', resolve))
  console.log('ok   the reference implementation')
}

main().catch(err => { console.error('FAIL', err); server.kill(); process.exit(1) })
