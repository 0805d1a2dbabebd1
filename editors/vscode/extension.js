// Starts bindc lsp for the folders of the window.
'use strict'
const vscode = require('vscode')
const { LanguageClient } = require('vscode-languageclient/node')

let client

exports.activate = async () => {
  const settings = vscode.workspace.getConfiguration('bindc')
  const server = { command: settings.get('path'), args: ['lsp', ...settings.get('arguments')] }
  const documentSelector = ['yaml', 'json', 'puppet'].map(language => ({ scheme: 'file', language }))
  const initializationOptions = Object.fromEntries(
    ['node', 'codeLens', 'inlayHints', 'semanticTokens'].map(name => [name, settings.get(name)]))
  client = new LanguageClient('bindc', 'bindc', server, { documentSelector, initializationOptions })
  await client.start()
}

exports.deactivate = () => client && client.stop()
