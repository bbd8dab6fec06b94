---@brief
---
--- https://github.com/xcsh-ls/xcsh-ls
---
--- Sessions of terminal coding agents (xcsh, oh-my-pi and pi): list, resume, fork, export and continue them.
--- Download the server from https://github.com/xcsh-ls/xcsh-ls/releases and add it to `PATH`.
---
--- To run a command, which asks for missing arguments:
---
--- ```lua
--- vim.lsp.get_clients({ name = 'xcsh' })[1]:exec_cmd({
---   title = 'Prompt',
---   command = 'xcsh.prompt',
---   arguments = { vim.empty_dict() },
--- })
--- ```
---
--- The plugin https://github.com/xcsh-ls/xcsh.nvim has a client of its own; where it is installed, this configuration starts nothing.

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
