-- What a person can set. Every field has a default, so setup() need not be called.

local M = {}

---@type xcsh.Config
M.options = {}

---@param options? xcsh.Config
function M.set(options)
  assert(options == nil or type(options) == 'table', 'xcsh: setup() takes a table')
  M.options = options or {}
end

---The working directory that a command is about.
---@return string
function M.root()
  return M.options.root and M.options.root() or vim.fn.getcwd()
end

---Where :XcshDump! copies to.
---@return string
function M.register()
  return M.options.register or (vim.fn.has('clipboard') == 1 and '+' or '"')
end

---The command line of the server, or nil and a sentence that says what to do.
---@return string[]? cmd, string? problem
function M.command()
  local cmd = M.options.cmd or vim.g.xcsh_ls_cmd or 'xcsh-ls'
  if type(cmd) == 'string' then
    cmd = { vim.fn.expand(cmd) }
  end
  if vim.fn.executable(cmd[1]) == 0 then
    local hint = 'install it, put it on PATH, or set g:xcsh_ls_cmd'
    return nil, ('The server "%s" cannot be run: %s.'):format(cmd[1], hint)
  end
  return cmd
end

return M
