-- A prompt that waits for a model. It stays in the prompt buffer, and is sent when a model is
-- ready, unless the user has changed it or canceled.

local client = require('xcsh.client')
local wire = require('xcsh.wire')

local M = {}

---Sends the prompt that waits.
---@param chat xcsh.chat.Chat
local function send(chat)
  local input, waits = require('xcsh.chat.input'), chat.unsent
  chat.unsent = nil
  if waits and vim.trim(input.text(chat)) == waits then
    input.send(chat, 'steer')
  end
end

---Requests whether a prompt can be answered now, and sends the one that waits if so.
---@param chat xcsh.chat.Chat
function M.check(chat)
  client.execute('xcsh.state', { cwd = chat.cwd }, function(err, now)
    if err or not vim.api.nvim_buf_is_valid(chat.input) then
      return
    end
    require('xcsh.chat').show(chat, { type = 'ready', state = wire.tbl(now) })
    if wire.tbl(wire.tbl(now).ready).ok == true and not chat.choosing then
      send(chat)
    end
  end)
end

---Offers the ways to get a model, after a prompt was refused and put back into its buffer.
---@param chat xcsh.chat.Chat
---@param said string the prompt
---@param err xcsh.Error
---@param intent xcsh.Intent of the user who sent it
function M.refused(chat, said, err, intent)
  chat.unsent, chat.choosing = said, true
  require('xcsh.ways').offer({
    cwd = chat.cwd,
    message = err.message,
    done = function(ready)
      chat.choosing = false
      if ready then
        return M.check(chat)
      end
      chat.unsent = nil
      require('xcsh.view').notify('Your message is still in the chat. :XcshLogin adds a model.')
    end,
  }, intent)
  M.check(chat)
end

---Offers the ways to get a model if none can answer. Returns false if one can.
---@param chat xcsh.chat.Chat
---@return boolean
function M.offer(chat)
  local ready = wire.tbl(wire.tbl(chat.state.session).ready)
  if ready.ok ~= false then
    return false
  end
  require('xcsh.ways').offer({
    cwd = chat.cwd,
    message = wire.str(ready.message) ~= '' and ready.message or nil,
    done = function()
      M.check(chat)
    end,
  })
  return true
end

---The events after which another model can answer.
local changes = { model_changed = true, engine_changed = true, agent_start = true }

---Handles an event of the chat's folder.
---@param chat xcsh.chat.Chat
---@param event table
function M.follow(chat, event)
  local ready = wire.tbl(wire.tbl(chat.state.session).ready)
  if changes[event.type] and (chat.unsent or ready.ok == false) then
    M.check(chat)
  end
end

return M
