-- The activity in each directory, from the server's events: shown on the command line, and in the
-- statusline of users who include it.

local M = {}

---@class xcsh.Turn
---@field turn? boolean a turn is running
---@field doing? string
---@field asking? boolean an approval is pending
---@field model? string the model of the last answer
---@field ended? 'finished'|'failed'|'stopped' the last turn ended out of sight

---@type table<string, xcsh.Turn>
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

---@param cwd string
local function waiting(cwd)
  local room = package.loaded['xcsh.waiting']
  local count = room and room.count(cwd) or 0
  return count > 0 and (' · %d pending, :XcshReview'):format(count) or ''
end

---@param cwd string
local function to_review(cwd)
  local said = require('xcsh').changes(cwd)
  return said ~= '' and ' · ' .. said or ''
end

---Returns the marks of turns out of sight: one that ended in this folder since the user looked,
---and those that run or wait for an approval in other folders.
---@param cwd string
---@return string
local function marks(cwd)
  local running, asking = 0, 0
  for other, state in pairs(known) do
    if other ~= cwd and state.asking then
      asking = asking + 1
    elseif other ~= cwd and state.turn then
      running = running + 1
    end
  end
  local mark = (known[cwd] or {}).ended
  return (mark and (' · %s %s'):format(mark == 'finished' and '✓' or '✗', mark) or '')
    .. (running > 0 and (' · %d running elsewhere'):format(running) or '')
    .. (asking > 0 and (' · %d waiting elsewhere'):format(asking) or '')
end

---@param cwd string
---@return string
function M.statusline(cwd)
  local state = known[cwd]
  if not state then
    local said = marks(cwd) .. to_review(cwd)
    return said ~= '' and 'xcsh' .. said or ''
  elseif state.doing then
    return M.status(cwd) .. marks(cwd)
  end
  local name = state.model and 'xcsh: ' .. state.model or 'xcsh'
  return name .. marks(cwd) .. waiting(cwd) .. to_review(cwd)
end

---Returns what the session of a folder does or waits for, or how its last turn ended out of sight.
---@param cwd string
---@return string?
function M.standing(cwd)
  local state = known[cwd] or {}
  if state.asking then
    return 'waiting for approval'
  elseif require('xcsh.waiting').asks(cwd) then
    return 'waiting for an answer'
  elseif state.turn then
    return 'running'
  end
  return state.ended and state.ended .. ', unread'
end

---Records that the user sees the conversation of a folder.
---@param cwd string
function M.seen(cwd)
  if known[cwd] and known[cwd].ended then
    known[cwd].ended = nil
    vim.cmd.redrawstatus({ bang = true })
  end
end

---Marks a turn that ended while the user did not see it.
---@param state xcsh.Turn
---@param params xcsh.Event
local function mark_end(state, params)
  local chat = package.loaded['xcsh.chat']
  if chat and chat.visible(params.cwd) then
    return
  end
  local reason = params.event.stopReason
  local problem = type(params.event.errorMessage) == 'string' and params.event.errorMessage ~= ''
  state.ended = reason == 'aborted' and 'stopped'
    or (problem or reason == 'error') and 'failed'
    or 'finished'
end

---@param name 'XcshTurnStart'|'XcshTurnEnd'
---@param params xcsh.Event
local function tell(name, params)
  vim.api.nvim_exec_autocmds('User', {
    pattern = name,
    modeline = false,
    data = {
      cwd = params.cwd,
      sessionId = params.sessionId,
      stopReason = params.event.stopReason,
    },
  })
end

---The answer has begun, or none will come: a retry is over.
---@param state xcsh.Turn
local function answering(state)
  if state.doing == 'retrying' then
    return state.turn and 'thinking' or ''
  end
end

---The activity that an event indicates; nil if none.
---@type table<string, fun(state: xcsh.Turn, event: table): string?>
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
    state.asking = type(event.approvals) == 'table' and #event.approvals > 0
    if state.asking then
      return 'waiting for approval'
    end
    return state.turn and 'working' or ''
  end,
  message_end = function(state, event)
    local message = event.message
    if type(message) == 'table' and type(message.model) == 'string' then
      state.model = message.model
    end
  end,
  model_changed = function(state, event)
    if type(event.model) == 'table' and type(event.model.id) == 'string' then
      state.model = event.model.id
    end
  end,
  auto_compaction_start = function()
    return 'compacting'
  end,
  auto_compaction_end = function(state)
    return state.turn and 'thinking' or ''
  end,
  auto_retry_start = function()
    return 'retrying'
  end,
  auto_retry_end = answering,
  message_update = answering,
}

---@param cwd string
local function show(cwd)
  vim.cmd.redrawstatus({ bang = true })
  local chat, inline = package.loaded['xcsh.chat'], package.loaded['xcsh.inline']
  if chat and chat.visible(cwd) or inline and inline.busy() then
    return -- they show it themselves
  end
  -- The command line must not overwrite the user's typing or the announcement of a question.
  local quiet = (known[cwd] or {}).asking or vim.api.nvim_get_mode().mode ~= 'n'
  if cwd == require('xcsh.config').root() and not quiet then
    local text = require('xcsh.text')
    vim.api.nvim_echo({ { (text.fit(M.status(cwd), vim.v.echospace, '…')) } }, false, {})
  end
end

---Handles an event of the server.
---@param params xcsh.Event
function M.follow(params)
  local kind = params.event.type
  local means = meaning[kind]
  if not means then
    return
  end
  local state = known[params.cwd] or {}
  known[params.cwd] = state
  local doing = means(state, params.event)
  if doing then
    doing = doing ~= '' and doing or nil
    if doing ~= state.doing then
      state.doing = doing
      show(params.cwd)
    end
  end
  if kind == 'agent_start' then
    state.ended = nil
    tell('XcshTurnStart', params)
  elseif kind == 'agent_end' then
    mark_end(state, params)
    vim.cmd.redrawstatus({ bang = true })
    tell('XcshTurnEnd', params)
  end
end

---Clears everything, because the server has exited.
function M.forget()
  if next(known) then
    known = {}
    vim.cmd.redrawstatus({ bang = true })
  end
end

return M
