-- Ways to continue that the server offers: at the end of a turn, such as after a model service
-- rejected an entry of the conversation, and after the engine has failed. They are a pending
-- question until the next turn, or the next start.

local text = require('xcsh.text')
local waiting = require('xcsh.waiting')
local wire = require('xcsh.wire')

local M = {}

---@class xcsh.Choices
---@field forget fun() it is no longer pending
---@field open fun()

---The pending choices by folder and cause.
---@type table<'turn'|'engine', table<string, xcsh.Choices>>
local pending = { turn = {}, engine = {} }

---The folders in which an event offered choices since the last turn began. The error of its prompt
---has the same.
---@type table<string, boolean>
local offered = {}

---@param action table
---@return boolean
local function is_action(action)
  action = wire.tbl(action)
  return wire.str(action.title) ~= '' and wire.str(action.command) ~= ''
end

---@param cwd string
---@param actions table[]
---@param message string
---@param chosen fun()
local function ask(cwd, actions, message, chosen)
  vim.ui.select(actions, {
    prompt = text.one_line(message, 1000):gsub('%.$', '') .. ': ',
    kind = 'xcsh.choices',
    format_item = function(action)
      return text.one_line(action.title)
    end,
  }, function(action)
    if action then
      chosen()
      local args = vim.tbl_extend('force', wire.tbl(action.arguments), { cwd = cwd })
      require('xcsh.commands').run(action.command, args)
    end
  end)
end

---@param cause 'turn'|'engine'
---@param cwd string
local function forget(cause, cwd)
  if pending[cause][cwd] then
    pending[cause][cwd].forget()
    pending[cause][cwd] = nil
  end
end

---@param cause 'turn'|'engine'
---@param cwd string
---@param event table
---@param message string
---@param quiet? boolean
local function offer(cause, cwd, event, message, quiet)
  local actions = vim.tbl_filter(is_action, wire.tbl(event.actions))
  if #actions == 0 then
    return
  end
  local choices ---@type xcsh.Choices
  local function open()
    ask(cwd, actions, message, function()
      if pending[cause][cwd] == choices then
        forget(cause, cwd)
      end
    end)
  end
  local removed = waiting.add({
    kind = 'question',
    cwd = cwd,
    says = message,
    quiet = quiet,
    once = true,
    open = open,
  })
  choices = { forget = removed, open = open }
  pending[cause][cwd] = choices
  offered[cwd] = true
end

---@param cwd string
local function on_screen(cwd)
  local chat = package.loaded['xcsh.chat']
  return chat ~= nil and chat.visible(cwd)
end

---Handles an event of the server.
---@param params xcsh.Event
function M.follow(params)
  local event, cwd = params.event, params.cwd
  if event.type == 'agent_start' or event.type == 'agent_end' then
    forget('turn', cwd)
  end
  if event.type == 'agent_start' then
    offered[cwd] = nil
  elseif event.type == 'agent_end' then
    offer('turn', cwd, event, wire.str(event.errorMessage))
  elseif event.type == 'engine_changed' then
    forget('engine', cwd)
    if event.state == 'failed' then
      local said = wire.str(event.message)
      said = said ~= '' and said or 'The engine has ended.'
      offer('engine', cwd, event, said, on_screen(cwd))
    end
  end
end

---Offers the ways to continue of the error of a prompt, unless an event did.
---@param cwd string
---@param err xcsh.Error
function M.after_error(cwd, err)
  if not offered[cwd] then
    forget('turn', cwd)
    offer('turn', cwd, wire.tbl(err.data), err.message)
  end
  offered[cwd] = nil
end

---Offers the ways to continue after a failure in a folder. Without any, the user can choose another
---engine.
---@param cwd string
function M.after_failure(cwd)
  local choices = pending.engine[cwd] or pending.turn[cwd]
  if choices then
    return choices.open()
  end
  require('xcsh.engines').pick(cwd)
end

---Clears everything, because the server has stopped.
function M.forget()
  offered = {}
  for cause, folders in pairs(pending) do
    for cwd in pairs(folders) do
      forget(cause, cwd)
    end
  end
end

return M
