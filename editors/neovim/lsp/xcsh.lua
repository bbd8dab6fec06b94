-- The server as a plain language server, for vim.lsp.enable('xcsh') in Neovim 0.11 or later without
-- the rest of the plugin. The file may be copied alone into the directory lsp/ of a configuration.

---@type vim.lsp.Config
return {
  cmd = { 'xcsh-ls', '--stdio' },
  filetypes = { 'markdown', 'text', 'jsonl' }, -- notes, and session files
  -- A function instead of root_markers, because the plugin has a client of its own: a second server
  -- would open a second session for the folder.
  root_dir = function(bufnr, on_dir)
    if vim.fn.exists(':XcshChat') == 2 then
      return
    end
    -- Session files are outside of the folder whose session they continue.
    local name = vim.api.nvim_buf_get_name(bufnr)
    local root = not name:find('%.jsonl$') and vim.fs.root(bufnr, { '.git', '.jj', '.hg' })
    on_dir(root or vim.fn.getcwd())
  end,
}
