-- What goes on in each directory, told by the server's events: shown in the command line,
-- and in the statusline of those who put it there.

local M = {}

---@type table<string, { turn?: boolean, doing?: string }>
local known = {}

---@param cwd string
---@return string
function M.status(cwd)
  local state = known[cwd]
  if not state or not state.doing then
    return ''
  end
  return ('xcsh: %s…'):format(state.doing)
end

---What an event says about what goes on; nil when it says nothing.
---@type table<string, fun(state: { turn?: boolean, doing?: string }, event: table): string?>
local meaning = {
  agent_start = function(state)
    state.turn = true
    return 'thinking'
  end,
  agent_end = function(state)
    state.turn = nil
    return ''
  end,
  tool_execution_start = function(_, event)
    return event.toolName
  end,
  tool_execution_end = function()
    return 'thinking'
  end,
  approvals_changed = function(state, event)
    if type(event.approvals) == 'table' and #event.approvals > 0 then
      return 'waiting for your answer'
    end
    return state.turn and 'working' or ''
  end,
  auto_compaction_start = function()
    return 'compacting'
  end,
  auto_compaction_end = function(state)
    return state.turn and 'thinking' or ''
  end,
  auto_retry_start = function()
    return 'trying again'
  end,
}

---@param cwd string
local function show(cwd)
  vim.cmd.redrawstatus({ bang = true })
  -- A command line that is being typed in is not written over.
  if cwd == require('xcsh.config').root() and not vim.api.nvim_get_mode().mode:find('^[cr]') then
    vim.api.nvim_echo({ { M.status(cwd) } }, false, {})
  end
end

---Takes in an event of the server.
---@param params xcsh.Event
function M.follow(params)
  local means = meaning[params.event.type]
  if not means then
    return
  end
  local state = known[params.cwd] or {}
  known[params.cwd] = state
  local doing = means(state, params.event)
  if doing == '' then
    doing = nil
  end
  if doing ~= state.doing then
    state.doing = doing
    show(params.cwd)
  end
end

---Forgets everything: the server has ended.
function M.forget()
  if next(known) then
    known = {}
    vim.cmd.redrawstatus({ bang = true })
  end
end

return M
