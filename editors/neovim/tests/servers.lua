-- An MCP server with two tools that say they only read, for "nvim -l". It answers one line of JSON
-- with another until its input ends.

local object = { type = 'object', properties = vim.empty_dict() }

local tools = {}
for _, name in ipairs({ 'find', 'count' }) do
  tools[#tools + 1] = {
    name = name,
    description = 'Reads the notes',
    inputSchema = object,
    annotations = { readOnlyHint = true },
  }
end

---@type table<string, fun(params: table): table>
local methods = {
  initialize = function(params)
    return {
      protocolVersion = params.protocolVersion,
      capabilities = { tools = vim.empty_dict() },
      serverInfo = { name = 'notes', version = '1' },
    }
  end,
  ['tools/list'] = function()
    return { tools = tools }
  end,
  ['tools/call'] = function(params)
    return { content = { { type = 'text', text = 'the result of ' .. params.name } } }
  end,
}

for line in io.lines() do
  local message = vim.json.decode(line)
  local method = message.id ~= nil and methods[message.method]
  if message.id ~= nil then
    local answer = { jsonrpc = '2.0', id = message.id }
    if method then
      answer.result = method(message.params or {})
    else
      answer.error = { code = -32601, message = 'no such method' }
    end
    io.write(vim.json.encode(answer), '\n')
    io.flush()
  end
end
