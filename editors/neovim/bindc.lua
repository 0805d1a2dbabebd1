-- Starts bindc lsp for the files of a site. Neovim 0.7 and later: dofile() this file from init.lua.
local files = { 'hiera.yaml', 'binder_config.yaml', 'bindings', 'environment.conf', 'environments', '.git' }

-- The directory of the site above a file, or nil.
local function site(path)
  local dir = vim.fn.fnamemodify(path, ':p:h')
  while dir ~= '/' and dir ~= '' do
    for _, name in ipairs(files) do
      if vim.fn.getftype(dir .. '/' .. name) ~= '' then
        return dir
      end
    end
    dir = vim.fn.fnamemodify(dir, ':h')
  end
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
    end
  end,
})
