-- Reads values received from the server, without trusting their shape: a member that is missing,
-- null or of another type is read as empty. 0.10 drops null members, later versions keep vim.NIL.

local M = {}

---@param value any
---@return string
function M.str(value)
  return type(value) == 'string' and value or ''
end

---@param value any
---@return number
function M.num(value)
  return type(value) == 'number' and value or 0
end

---@param value any
---@return table
function M.tbl(value)
  return type(value) == 'table' and value or {}
end

---Returns the strings of a list.
---@param value any
---@return string[]
function M.texts(value)
  return vim.tbl_filter(function(text)
    return type(text) == 'string'
  end, M.tbl(value))
end

---Returns the names of the values that are unknown because the session is still being read.
---@param value any a state, a snapshot or a result
---@return table<string, boolean> names
---@return boolean any
function M.pending(value)
  local names = {}
  for _, name in ipairs(M.texts(M.tbl(value).pending)) do
    names[name] = true
  end
  return names, next(names) ~= nil
end

---Returns the text of a message or of a tool's result, without thinking and tool calls.
---@param message any
---@return string
function M.text_of(message)
  message = M.tbl(message)
  if type(message.content) == 'string' then
    return message.content
  end
  local parts = {}
  for _, block in ipairs(M.tbl(message.content)) do
    if type(block) == 'table' and block.type == 'text' then
      parts[#parts + 1] = M.str(block.text)
    end
  end
  return table.concat(parts, '\n')
end

return M
