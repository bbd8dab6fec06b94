-- A local model service with scripted answers, as slow as a test needs. It implements Chat
-- Completions and provides the model local/m.

local M = {}

---@class Answer
---@field thinking? string
---@field text? string
---@field calls? { id: string, name: string, args: table }[]
---@field overloaded? string the service refuses with this message
---@field held? boolean the second half of the text waits for service.release()
---@field rejects? string the reason for which the request is rejected

---@class Service
---@field answers Answer[] in the order of the requests
---@field requests table[] the decoded request bodies
---@field keys string[] the API keys of the requests
---@field holding boolean an answer is paused in the middle
local Service = {}
Service.__index = Service

local function chunk(delta, finish)
  local choice = { index = 0, delta = delta, finish_reason = finish or vim.NIL }
  local body = { id = 'x', object = 'chat.completion.chunk', choices = { choice } }
  return 'data: ' .. vim.json.encode(body) .. '\n\n'
end

---@param text string
---@return string[]
local function words(text)
  local all = {}
  for word in text:gmatch('%S+%s*') do
    all[#all + 1] = word
  end
  return all
end

---@param answer Answer
---@return string[] first, string[] second
local function chunks_of(answer)
  local first, second = {}, {}
  for _, word in ipairs(words(answer.thinking or '')) do
    table.insert(first, chunk({ reasoning_content = word }))
  end
  local all = words(answer.text or '')
  for i, word in ipairs(all) do
    table.insert(answer.held and i > #all / 2 and second or first, chunk({ content = word }))
  end
  for i, call in ipairs(answer.calls or {}) do
    local arguments = vim.json.encode(call.args)
    local func = { name = call.name, arguments = arguments }
    local tool = { index = i - 1, id = call.id, type = 'function', ['function'] = func }
    table.insert(second, chunk({ tool_calls = { tool } }))
  end
  table.insert(second, chunk(vim.empty_dict(), answer.calls and 'tool_calls' or 'stop'))
  table.insert(second, 'data: [DONE]\n\n')
  return first, second
end

---@param socket uv.uv_tcp_t
---@param head string
---@param body string
function Service:reply(socket, head, body)
  table.insert(self.requests, vim.json.decode(body))
  table.insert(self.keys, head:match('[Aa]uthorization: Bearer (%S+)') or '')
  local answer = table.remove(self.answers, 1) or { text = 'Nothing more.' }
  if answer.rejects then
    local problem = { message = answer.rejects, type = 'invalid_request_error' }
    local page = vim.json.encode({ error = problem })
    local start = 'HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n'
    socket:write(start .. 'connection: close\r\n\r\n' .. page, function()
      socket:close()
    end)
    return
  end
  if answer.overloaded then
    local refusal = vim.json.encode({ error = { message = answer.overloaded } })
    local start = 'HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n'
    start = start .. ('content-length: %d\r\nconnection: close\r\n\r\n'):format(#refusal)
    return socket:write(start .. refusal, function()
      socket:close()
    end)
  end
  local first, second = chunks_of(answer)
  local begin = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n'
  socket:write(begin .. table.concat(first))
  local function finish()
    if not socket:is_closing() then
      socket:write(table.concat(second), function()
        if not socket:is_closing() then
          socket:close()
        end
      end)
    end
  end
  if answer.held then
    self.holding = true
    self.finish = finish
  else
    finish()
  end
end

---Resumes the held answer.
function Service:release()
  local finish = assert(self.finish, 'no answer is held')
  self.finish, self.holding = nil, false
  finish()
end

---@param socket uv.uv_tcp_t
function Service:accept(socket)
  local got = ''
  socket:read_start(function(err, data)
    if err or not data then
      if not socket:is_closing() then
        socket:close()
      end
      return
    end
    got = got .. data
    local head, rest = got:match('^(.-\r\n\r\n)(.*)$')
    local length = head and tonumber(head:lower():match('content%-length: (%d+)'))
    if length and #rest >= length then
      got = ''
      vim.schedule(function()
        self:reply(socket, head, rest:sub(1, length))
      end)
    end
  end)
end

function Service:close()
  if not self.server:is_closing() then
    self.server:close()
  end
end

---Starts the service.
---@param answers Answer[]
---@return Service
function M.listen(answers)
  local server = assert(vim.uv.new_tcp())
  local self =
    setmetatable({ server = server, answers = answers, requests = {}, keys = {} }, Service)
  self.holding = false
  assert(server:bind('127.0.0.1', 0))
  server:listen(16, function()
    local socket = assert(vim.uv.new_tcp())
    server:accept(socket)
    self:accept(socket)
  end)
  return self
end

---Returns the service as a provider in a models.json.
---@return table
function Service:provider()
  return {
    baseUrl = ('http://127.0.0.1:%d/v1'):format(self.server:getsockname().port),
    api = 'openai-completions',
    apiKey = 'none',
    models = {
      {
        id = 'm',
        name = 'M',
        contextWindow = 32000,
        maxTokens = 4000,
        input = { 'text' },
        reasoning = true,
      },
    },
  }
end

---Starts the service and configures the server to use it, in a home without other models.
---@param home string
---@param answers Answer[]
---@return Service
function M.start(home, answers)
  local self = M.listen(answers)
  local agent = home .. '/.xcsh/agent'
  vim.fn.mkdir(agent, 'p')
  local file = { vim.json.encode({ providers = { ['local'] = self:provider() } }) }
  vim.fn.writefile(file, agent .. '/models.json')
  return self
end

return M
