-- The user's prompts in a conversation: what the user typed, and the text that was made of it.

local wire = require('xcsh.wire')

local M = {}

---@param message table
local function is_skill(message)
  return message.role == 'custom'
    and message.customType == 'skill-prompt'
    and message.display ~= false
end

---Reports whether a message is a prompt. xcsh and oh-my-pi record an invoked skill with a type of
---its own.
---@param message table
---@return boolean
function M.is(message)
  return message.role == 'user' or is_skill(message)
end

---@param name string
---@param args string
local function command(name, args)
  return name ~= '' and vim.trim('/skill:' .. name .. ' ' .. args) or nil
end

---Returns what the user typed if the message was made of it: "/name arguments"; nil for other
---messages.
---@param item xcsh.chat.Item
---@return string?
function M.typed(item)
  local message = item.message
  if item.typed then
    return item.typed
  elseif is_skill(message) then
    local details = wire.tbl(message.details)
    local prompt = wire.str(details.prompt)
    return prompt ~= '' and prompt or command(wire.str(details.name), wire.str(details.args))
  elseif message.role == 'user' then
    local said = wire.text_of(message)
    -- The form of pi.
    local name, rest = said:match('^<skill name="([^"\n]+)" location="[^"\n]*">\n.*\n</skill>(.*)$')
    if name and (rest == '' or vim.startswith(rest, '\n\n')) then
      return command(name, vim.trim(rest))
    end
  end
end

---Returns the user's words of a prompt.
---@param item xcsh.chat.Item
---@return string
function M.words(item)
  return M.typed(item) or wire.text_of(item.message)
end

return M
