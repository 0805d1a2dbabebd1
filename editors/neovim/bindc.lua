-- Starts bindc lsp for the files of a site. Neovim 0.7 and later: dofile() this file from init.lua.
local only_sites = { 'environment.conf', 'binder_config.yaml', 'bindings_config.yaml' }
local sites_and_modules = { 'hiera.yaml', 'bindings', 'environments' }

local function has(dir, names)
  for _, name in ipairs(names) do
    if vim.fn.getftype(dir .. '/' .. name) ~= '' then
      return true
    end
  end
  return false
end

-- The directories above a file, without the home directory and those above it.
local function above(path)
  local dirs = {}
  local dir = vim.fn.fnamemodify(path, ':p:h')
  local home = vim.fn.expand('~') .. '/'
  while dir ~= '/' and dir ~= '' and home:sub(1, #dir + 1) ~= dir .. '/' do
    table.insert(dirs, dir)
    dir = vim.fn.fnamemodify(dir, ':h')
  end
  return dirs
end

-- The directory of the site above a file, or nil. Modules have a hiera.yaml and bindings too, so it is the outermost
-- directory with them, up to that of the repository.
local function site(path)
  local dirs = above(path)
  for _, dir in ipairs(dirs) do
    if has(dir, only_sites) then
      return dir
    end
  end
  local found
  for _, dir in ipairs(dirs) do
    if has(dir, sites_and_modules) then
      found = dir
    end
    if has(dir, { '.git' }) then
      return found or dir
    end
  end
  return found
end

local clients = {} -- the client of each site

vim.api.nvim_create_autocmd('FileType', {
  pattern = { 'yaml', 'json', 'puppet', 'pp' },
  callback = function(args)
    local root = site(vim.api.nvim_buf_get_name(args.buf))
    if not root then
      return
    end
    local client = clients[root]
    if not client or vim.lsp.client_is_stopped(client) then
      client = vim.lsp.start_client({
        name = 'bindc',
        cmd = { vim.g.bindc or 'bindc', 'lsp' },
        root_dir = root,
        init_options = vim.g.bindc_options,
        workspace_folders = { { name = root, uri = vim.uri_from_fname(root) } },
      })
      clients[root] = client
    end
    if client then
      vim.lsp.buf_attach_client(args.buf, client)
      vim.bo[args.buf].omnifunc = 'v:lua.vim.lsp.omnifunc' -- Neovim 0.7 does not set it
    end
  end,
})
