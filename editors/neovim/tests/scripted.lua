-- A server with scripted answers, in the process of the test. It has one session, whose engine does
-- what the test says; the events and requests are those of docs/protocol.md.

local runner = require('runner')

local M = {}

---@class Scripted
---@field calls { name: string, args: table }[] the commands so far
---@field answers table<string, any> a result, or a function that returns an error and a result
---@field state table of the session
---@field questions table[] of the snapshot
---@field seq integer
---@field held fun()[] answers that wait for release()
---@field holds table<string, boolean> commands whose answers wait
---@field sent { method: string, params: any }[] other messages to the server so far
---@field dispatchers table
local Scripted = {}
Scripted.__index = Scripted

---@type table<string, boolean>
M.pi_can = {
  steer = true,
  branch = true,
  compact = true,
  images = true,
  files = true,
  permission = true,
  models = true,
  login = true,
}

---Returns the engine of a state.
---@param more? table
function M.pi(more)
  local engine = { name = 'pi', version = '1.5.2', state = 'ready', can = M.pi_can }
  return vim.tbl_extend('force', engine, more or {})
end

---@param name string
---@param args table
---@return table? err, any result
function Scripted:answer(name, args)
  local answer = self.answers[name]
  if type(answer) == 'function' then
    return answer(args)
  elseif answer ~= nil then
    return nil, answer
  elseif name == 'xcsh.snapshot' then
    return nil,
      {
        seq = self.seq,
        state = vim.deepcopy(self.state),
        messages = self.messages,
        questions = vim.deepcopy(self.questions),
        older = { count = 0 },
      }
  elseif name == 'xcsh.state' then
    return nil, vim.deepcopy(self.state)
  elseif name == 'xcsh.history' then
    return nil, { prompts = {} }
  end
  return nil, vim.empty_dict()
end

---@param method string
---@param params any
---@param callback fun(err: any, result: any)
function Scripted:request(method, params, callback)
  if method == 'initialize' then
    return callback(nil, {
      capabilities = {
        experimental = { xcsh = { wireVersion = 1 } },
        executeCommandProvider = { commands = vim.tbl_keys(self.answers) },
        textDocumentSync = { openClose = true, change = 2, save = true },
      },
    })
  elseif method ~= 'workspace/executeCommand' then
    table.insert(self.sent, { method = method, params = params })
    return callback(nil, vim.NIL)
  end
  local args = params.arguments[1]
  table.insert(self.calls, { name = params.command, args = args })
  local function reply()
    local err, result = self:answer(params.command, args)
    callback(err, result)
  end
  if self.holds[params.command] then
    table.insert(self.held, reply)
  else
    reply()
  end
end

---Answers the held commands.
function Scripted:release()
  local held = self.held
  self.held, self.holds = {}, {}
  for _, reply in ipairs(held) do
    reply()
  end
end

---Sends an event of the session.
---@param event table
function Scripted:event(event)
  self.seq = self.seq + 1
  self.dispatchers.notification('xcsh/event', {
    cwd = self.state.cwd,
    sessionId = self.state.sessionId,
    seq = self.seq,
    event = vim.deepcopy(event),
  })
end

---Sends a request, as a server does, and waits for the answer.
---@param method string
---@param params table
---@return any result
function Scripted:ask(method, params)
  local answer
  coroutine.wrap(function()
    answer = { self.dispatchers.server_request(method, params) }
  end)()
  runner.wait('an answer to ' .. method, function()
    return answer
  end)
  return answer[1]
end

---Changes the engine, and sends the event.
---@param engine table as in a state
---@param more? table further members of the event
function Scripted:engine(engine, more)
  self.state.engine = engine
  local event = {
    type = 'engine_changed',
    engine = engine.name,
    version = engine.version,
    state = engine.state,
    message = engine.message,
  }
  self:event(vim.tbl_extend('force', event, more or {}))
end

---Returns the arguments of the calls of a command.
---@param name string
---@return table[]
function Scripted:args(name)
  local found = {}
  for _, call in ipairs(self.calls) do
    if call.name == name then
      local args = vim.deepcopy(call.args)
      args.cwd = nil
      table.insert(found, args)
    end
  end
  return found
end

---Waits for a call of a command, and returns the arguments of all its calls.
---@param name string
---@param count? integer
function Scripted:wait_for(name, count)
  runner.wait('a call of ' .. name, function()
    return #self:args(name) >= (count or 1)
  end)
  return self:args(name)
end

---@param dispatchers table
function Scripted:connect(dispatchers)
  self.dispatchers = dispatchers
  local closing, id = false, 0
  return {
    request = function(method, params, callback)
      id = id + 1
      vim.schedule(function()
        if not closing or method == 'shutdown' then
          self:request(method, params, callback)
        end
      end)
      return true, id
    end,
    notify = function(method, params)
      table.insert(self.sent, { method = method, params = vim.deepcopy(params) })
      if method == 'exit' then
        closing = true
        vim.schedule(function()
          dispatchers.on_exit(0, 15)
        end)
      end
      return true
    end,
    is_closing = function()
      return closing
    end,
    terminate = function()
      if not closing then
        closing = true
        dispatchers.on_exit(0, 15)
      end
    end,
  }
end

---Makes the plugin use a scripted server.
---@param engine? table of the session's state; default: pi, ready
---@return Scripted
function M.start(engine)
  local self = setmetatable({
    calls = {},
    sent = {},
    answers = {},
    questions = {},
    messages = {},
    seq = 0,
    held = {},
    holds = {},
  }, Scripted)
  self.state = {
    cwd = vim.fn.getcwd(),
    sessionId = 's',
    title = '',
    model = { provider = 'anthropic', id = 'claude-opus' },
    thinkingLevel = 'off',
    approvalMode = 'ask',
    messageCount = 0,
    isStreaming = false,
    engine = engine or M.pi(),
  }
  require('xcsh.config').command = function()
    return function(dispatchers)
      return self:connect(dispatchers)
    end
  end
  return self
end

---Starts another language server, which answers requests with fixed results.
---@param name string
---@param results table<string, any> by method
---@param capabilities table
---@return integer client_id
function M.server(name, results, capabilities)
  local function connect(dispatchers)
    local closing, id = false, 0
    return {
      request = function(method, _, callback)
        id = id + 1
        vim.schedule(function()
          if method == 'initialize' then
            return callback(nil, { capabilities = capabilities })
          end
          callback(nil, results[method] or vim.NIL)
        end)
        return true, id
      end,
      notify = function(method)
        if method == 'exit' then
          dispatchers.on_exit(0, 15)
        end
        return true
      end,
      is_closing = function()
        return closing
      end,
      terminate = function()
        closing = true
        dispatchers.on_exit(0, 15)
      end,
    }
  end
  local config = { name = name, cmd = connect }
  local id = vim.fn.has('nvim-0.11') == 1 and vim.lsp.start(config, { attach = false })
    or vim.lsp.start_client(config)
  runner.wait('the other server', function()
    return vim.lsp.get_client_by_id(id).initialized
  end)
  return assert(id)
end

return M
