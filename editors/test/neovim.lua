-- Makes the mistakes of mistakes.lua in a site, and mends each with the code actions of bindc lsp. Run by editors/test/run
-- in the directory of a new site: nvim --headless --clean -u editors/neovim/bindc.lua -l is not known to Neovim 0.7, so
-- the script is sourced.
local here = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h')
local mistakes = dofile(here .. '/mistakes.lua')
local failed = 0

local function fail(name, why)
  failed = failed + 1
  io.stderr:write('FAIL ' .. name .. ': ' .. why .. '\n')
end

-- Waits until the diagnostics of the buffer satisfy a condition, and returns them.
local function wait(buf, holds)
  vim.wait(10000, function() return holds(vim.diagnostic.get(buf)) end, 20)
  return vim.diagnostic.get(buf)
end

local function texts(list)
  local out = {}
  for _, d in ipairs(list) do
    table.insert(out, d.message)
  end
  return '[' .. table.concat(out, '; ') .. ']'
end

local function mentions(list, text)
  for _, d in ipairs(list) do
    if d.message:find(text, 1, true) then
      return d
    end
  end
end

local function write(files)
  for name, text in pairs(files) do
    vim.fn.mkdir(vim.fn.fnamemodify(name, ':h'), 'p')
    vim.fn.writefile(vim.split(text, '\n'), name)
  end
end

-- Applies the first code action for a diagnostic whose title contains a text, or the preferred one.
local function mend(buf, d, title)
  local at = { line = d.lnum, character = d.col }
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(buf),
    range = { start = at, ['end'] = at },
    context = { diagnostics = { d.user_data and d.user_data.lsp and d.user_data.lsp.diagnostic } },
  }
  local answers = vim.lsp.buf_request_sync(buf, 'textDocument/codeAction', params, 10000) or {}
  for id, answer in pairs(answers) do
    for _, action in ipairs(answer.result or {}) do
      if action.edit and action.title:find(title, 1, true) then
        vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(id).offset_encoding)
        return true
      end
    end
  end
  return false
end

for i, m in ipairs(mistakes) do
  local dir = vim.fn.getcwd() .. '/' .. i
  local files = { [dir .. '/.git/HEAD'] = '' }
  for name, text in pairs(m.files) do
    files[dir .. '/' .. name] = text
  end
  write(files)
  vim.cmd('edit ' .. vim.fn.fnameescape(dir .. '/' .. m.open))
  local buf = vim.api.nvim_get_current_buf()
  local began = vim.loop.hrtime()
  local list = wait(buf, function(list) return mentions(list, m.message) end)
  local d = mentions(list, m.message)
  if not d then
    fail(m.name, 'expected a diagnostic with "' .. m.message .. '", got ' .. texts(list))
  elseif m.type then -- mended by hand: the editor replaces a text
    vim.cmd(m.type)
  elseif not mend(buf, d, m.action) then
    fail(m.name, 'no code action "' .. m.action .. '"')
  end
  if d then
    list = wait(buf, function(list) return #list == 0 end)
    if #list > 0 then
      fail(m.name, 'still reported: ' .. texts(list))
    else
      local ms = math.floor((vim.loop.hrtime() - began) / 1e6)
      io.stdout:write(string.format('ok   %s (%d ms)\n', m.name, ms))
    end
  end
  vim.cmd('silent write')
end

if failed > 0 then
  vim.cmd('cquit 1')
end
vim.cmd('qall!')
