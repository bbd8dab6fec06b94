-- The engine of each folder: the program that answers in its session. A request that the engine
-- cannot serve is refused here, before the server is asked.

local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---The name of the server's own engine.
M.own = 'own'

---@class xcsh.Engine
---@field name string
---@field version string
---@field state string known, starting, ready, running or failed
---@field message string
---@field can? table<string, boolean> nil while it is unknown

---@type table<string, xcsh.Engine>
local known = {}

---The folders in which a turn is running.
---@type table<string, boolean>
local running = {}

---Reports whether a program answers that is not the server itself.
---@param engine any
function M.hosted(engine)
  local name = wire.str(wire.tbl(engine).name)
  return name ~= '' and name ~= M.own
end

---Returns the engine of a state; nil if it has none.
---@param value any
---@return xcsh.Engine?
function M.of_state(value)
  value = wire.tbl(value)
  if wire.str(value.name) == '' then
    return nil
  end
  return {
    name = value.name,
    version = wire.str(value.version),
    state = wire.str(value.state),
    message = wire.str(value.message),
    can = type(value.can) == 'table' and value.can or nil,
  }
end

---Returns the engine after an event. What it can do is known only from a state: it is unknown after
---another engine was chosen, and after a start.
---@param before any
---@param event table
---@return xcsh.Engine
function M.after(before, event)
  before = wire.tbl(before)
  local same = before.name == event.engine
  local kept = same and before.state ~= 'starting' and event.state ~= 'starting'
  return {
    name = wire.str(event.engine),
    version = wire.str(event.version),
    state = wire.str(event.state),
    message = wire.str(event.message),
    can = kept and before.can or nil,
  }
end

---Reports whether an engine is ready, so that what it can do is known to the server.
---@param engine any
function M.is_open(engine)
  local state = wire.tbl(engine).state
  return state == 'ready' or state == 'running'
end

---Returns the name of an engine for users.
---@param name string
---@return string
function M.name(name)
  return name == M.own and 'xcsh-ls' or text.one_line(name, 40)
end

---Returns the name and version of an engine.
---@param engine table with name and version
---@return string
function M.label(engine)
  local version = wire.str(engine.version)
  local name = M.name(wire.str(engine.name))
  return version ~= '' and ('%s %s'):format(name, text.one_line(version, 20)) or name
end

local doing = { starting = ' starting…', failed = ' failed' }

---Returns an engine for the bar above a chat; nil for the server's own engine.
---@param engine any
---@return string?
function M.bar(engine)
  if M.hosted(engine) then
    return M.label(engine) .. (doing[engine.state] or '')
  end
end

---@param cwd string
---@return xcsh.Engine?
function M.of(cwd)
  return known[cwd]
end

---Takes the engine of a folder from a result or a notification that contains a session's state.
---@param cwd string
---@param result any
function M.learn(cwd, result)
  result = wire.tbl(result)
  -- The result of xcsh.setEngine is an engine itself.
  local chosen = type(result.can) == 'table' and M.of_state(result)
  if chosen then
    known[cwd] = chosen
    return
  end
  for _, state in ipairs({ wire.tbl(result.state), wire.tbl(result.session), result }) do
    local engine = M.of_state(state.engine)
    if engine then
      known[cwd] = engine
      return
    end
  end
end

---Shows a notice of an engine to a user who does not see the chat. One with a level is a message of
---the server, too.
---@param params xcsh.Event
local function notice(params)
  local chat = package.loaded['xcsh.chat']
  local said = wire.str(params.event.level) == '' and wire.str(params.event.text) or ''
  if said ~= '' and not (chat and chat.visible(params.cwd)) then
    require('xcsh.view').notify(text.one_line(said, 1000))
  end
end

---Handles an event of the server.
---@param params xcsh.Event
function M.follow(params)
  local event, cwd = params.event, params.cwd
  if event.type == 'engine_changed' then
    known[cwd] = M.after(known[cwd], event)
    vim.cmd.redrawstatus({ bang = true })
  elseif event.type == 'agent_start' then
    running[cwd] = true
  elseif event.type == 'agent_end' then
    running[cwd] = nil
  elseif event.type == 'notice' and M.hosted(known[cwd]) then
    notice(params)
  end
end

---Clears everything, because the server has stopped.
function M.forget()
  known, running = {}, {}
end

---@class xcsh.engine.Need
---@field can string
---@field says string with the engine's name

---@param args table
---@return boolean
local function has_images(args)
  return #wire.tbl(args.images) > 0
end

---@type xcsh.engine.Need
local steering = { can = 'steer', says = '%s cannot be steered. Wait, or stop it first.' }

---@type xcsh.engine.Need
local choosing = { can = 'models', says = '%s chooses its model itself.' }

---@type xcsh.engine.Need
local images = { can = 'images', says = '%s takes no images.' }

---What a command requires of the engine.
---@type table<string, fun(args: table, cwd: string): xcsh.engine.Need?>
local needs = {
  ['xcsh.prompt'] = function(args, cwd)
    if args.streamingBehavior == 'steer' and running[cwd] then
      return steering
    end
    return has_images(args) and images or nil
  end,
  ['xcsh.steer'] = function()
    return steering
  end,
  ['xcsh.followUp'] = function(args)
    return has_images(args) and images or nil
  end,
  ['xcsh.branch'] = function()
    return { can = 'branch', says = '%s cannot go back. Fork the session instead.' }
  end,
  ['xcsh.compact'] = function()
    return { can = 'compact', says = '%s does not compact a conversation on request.' }
  end,
  ['xcsh.setModel'] = function()
    return choosing
  end,
  ['xcsh.setThinking'] = function()
    return choosing
  end,
}

---Returns the reason why the engine of a folder cannot serve a command; nil if it can, or if that
---is for the server to decide.
---@param cwd string
---@param command string
---@param args table
---@return string?
function M.refusal(cwd, command, args)
  local engine = known[cwd]
  if not engine or not engine.can or not M.hosted(engine) or not M.is_open(engine) then
    return nil
  end
  local need = needs[command] and needs[command](args, cwd)
  if need and engine.can[need.can] ~= true then
    return need.says:format(M.name(engine.name))
  end
end

return M
