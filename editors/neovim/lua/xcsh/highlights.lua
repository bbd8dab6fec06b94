-- The plugin's highlight groups. Each is a link that a color scheme or the user can override.

local M = {}

---@type table<string, string> group to the group it links to
M.links = {
  XcshUser = 'Title',
  XcshAssistant = 'Function',
  XcshNote = 'Comment',
  XcshMeta = 'NonText',
  XcshThinking = 'Comment',
  XcshTool = 'Identifier',
  XcshToolDone = 'DiagnosticOk',
  XcshToolFailed = 'DiagnosticError',
  XcshToolRunning = 'DiagnosticInfo',
  XcshApproval = 'WarningMsg',
  XcshError = 'ErrorMsg',
  XcshQueue = 'Comment',
  XcshTodo = 'Normal',
  XcshTodoDone = 'Comment',
  XcshDiffAdd = 'DiffAdd',
  XcshDiffDelete = 'DiffDelete',
  XcshDiffHunk = 'DiffText',
  XcshChangeAdd = 'Added',
  XcshChangeModify = 'Changed',
  XcshChangeDelete = 'Removed',
  XcshHint = 'NonText',
}

function M.define()
  for group, target in pairs(M.links) do
    vim.api.nvim_set_hl(0, group, { default = true, link = target })
  end
end

return M
