-- The login of an engine: its own program, in a terminal.

local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---@param command string[]
---@param cwd string
---@return boolean started
local function start(command, cwd)
  -- Later versions deprecate termopen().
  if vim.fn.has('nvim-0.11') == 1 then
    return vim.fn.jobstart(command, { term = true, cwd = cwd }) > 0
  end
  return vim.fn.termopen(command, { cwd = cwd }) > 0
end

---Opens a terminal with the command that logs in.
---@param result any xcsh.wire.LoginResult
---@param cwd string
function M.open(result, cwd)
  local command = wire.texts(wire.tbl(result).command)
  local said = text.one_line(wire.str(wire.tbl(result).message), 400)
  if #command == 0 then
    return view.notify(said)
  end
  vim.cmd('botright new')
  local bufnr = vim.api.nvim_get_current_buf()
  local ok, started = pcall(start, command, cwd)
  if not ok or not started then
    vim.api.nvim_buf_delete(bufnr, { force = true })
    local problem = 'Couldn\'t start "%s". %s'
    return view.error({ message = problem:format(text.one_line(command[1]), said) })
  end
  vim.bo[bufnr].bufhidden = 'hide'
  vim.cmd.startinsert()
  if said ~= '' then
    view.notify(said)
  end
end

return M
