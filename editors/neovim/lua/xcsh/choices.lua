-- Ways to continue that the server offers at the end of a turn, such as after a model service
-- rejected an entry of the conversation. They are a pending question until the next turn.

local text = require('xcsh.text')
local waiting = require('xcsh.waiting')
local wire = require('xcsh.wire')

local M = {}

---@type table<string, fun()> folder to the removal of its question
local pending = {}

---@param action table
---@return boolean
local function is_action(action)
  action = wire.tbl(action)
  return wire.str(action.title) ~= '' and wire.str(action.command) ~= ''
end

---@param cwd string
---@param actions table[]
---@param message string
local function ask(cwd, actions, message)
  vim.ui.select(actions, {
    prompt = text.one_line(message, 1000) .. ': ',
    kind = 'xcsh.choices',
    format_item = function(action)
      return text.one_line(action.title)
    end,
  }, function(action)
    if action then
      local args = vim.tbl_extend('force', wire.tbl(action.arguments), { cwd = cwd })
      require('xcsh.commands').run(action.command, args)
    end
  end)
end

---Handles an event of the server.
---@param params xcsh.Event
function M.follow(params)
  local event, cwd = params.event, params.cwd
  if event.type ~= 'agent_start' and event.type ~= 'agent_end' then
    return
  end
  if pending[cwd] then
    pending[cwd]()
    pending[cwd] = nil
  end
  local actions = vim.tbl_filter(is_action, wire.tbl(event.actions))
  if event.type ~= 'agent_end' or #actions == 0 then
    return
  end
  local message = wire.str(event.errorMessage)
  pending[cwd] = waiting.add({
    kind = 'question',
    cwd = cwd,
    says = message,
    once = true,
    open = function()
      ask(cwd, actions, message)
    end,
  })
end

return M
