-- Search in the conversation of a chat. The server searches, because the buffer has only a part of
-- the messages.

local client = require('xcsh.client')
local intents = require('xcsh.intent')
local render = require('xcsh.chat.render')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---Messages before and after a hit that are loaded with it, and hits that are listed at once.
local limit = 100

---Returns the message that an entry belongs to, if it is in the chat.
---@param s xcsh.chat.State
---@param entry_id string
---@return xcsh.chat.Item?
local function item_of(s, entry_id)
  for _, list in ipairs({ s.items, s.past and s.past.items or {} }) do
    for _, item in ipairs(list) do
      if item.entryId == entry_id then
        return item
      end
      for _, call in pairs(item.calls) do
        if call.entryId == entry_id then
          return item
        end
      end
    end
  end
end

---Moves the cursor to the first line of a message that contains the text.
---@param chat xcsh.chat.Chat
---@param item xcsh.chat.Item
---@param query string
local function go_to(chat, item, query)
  local window = vim.fn.bufwinid(chat.bufnr)
  local first, last = render.rows_of(chat.bufnr, item)
  if window == -1 or not first then
    return
  end
  local row = first
  for i, line in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, first - 1, last, false)) do
    if line:lower():find(query:lower(), 1, true) then
      row = first + i - 1
      break
    end
  end
  vim.api.nvim_set_current_win(window)
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(window, { row, 0 })
  vim.cmd('silent! normal! zvzz')
end

---Goes to a hit; loads its page if it is not in the chat.
---@param chat xcsh.chat.Chat
---@param hit table
---@param query string
function M.open(chat, hit, query)
  local entry_id = wire.str(hit.entryId)
  local function item()
    return item_of(chat.state, entry_id)
  end
  local here = item()
  if here then
    return go_to(chat, here, query)
  end
  local intent, epoch = intents.begin(), chat.state.epoch
  local args = { cwd = chat.cwd, around = entry_id, limit = limit }
  client.execute('xcsh.messages', args, function(err, page)
    intent:finish()
    if err then
      return view.error(err)
    end
    intent:show(chat.cwd, 'Go to the message', function()
      if not vim.api.nvim_buf_is_valid(chat.bufnr) then
        return
      end
      local action = { type = 'visit', request = { epoch = epoch }, page = page }
      require('xcsh.chat').show(chat, action, nil, item)
      local found = item()
      if not found then
        return view.notify('The conversation has changed. Search again.')
      end
      go_to(chat, found, query)
    end)
  end)
end

local roles = { user = 'You', assistant = 'Answer', toolResult = 'Tool', bashExecution = 'You ran' }

---@param hit table
---@return string
function M.role(hit)
  local role = wire.str(hit.role)
  return roles[role] or text.one_line(role, 20)
end

---@param hit table
local function hit_line(hit)
  return ('%-8s %s'):format(M.role(hit), text.one_line(wire.str(hit.excerpt), 200))
end

---@param chat xcsh.chat.Chat
---@param query string
---@param hits table[]
---@param cursor string of the search before the hits; "" if there is nothing to search
local function choose(chat, query, hits, cursor)
  local choices = vim.list_slice(hits)
  if cursor ~= '' then
    choices[#choices + 1] = { more = true }
  elseif #hits == 1 then
    return M.open(chat, hits[1], query)
  end
  require('xcsh.pickers.select').choose(choices, {
    prompt = ('Messages with "%s"'):format(text.one_line(query, 60)),
    kind = 'xcsh.hit',
    format_item = function(hit)
      return hit.more and 'Search earlier messages' or hit_line(hit)
    end,
  }, function(hit)
    if hit and hit.more then
      M.find(chat, query, cursor)
    elseif hit then
      M.open(chat, hit, query)
    end
  end)
end

---Searches the conversation and lets the user select one of the messages found.
---@param chat xcsh.chat.Chat
---@param query string
---@param cursor? string of an earlier search that goes on
---@param intent? xcsh.Intent of the user's command
function M.find(chat, query, cursor, intent)
  intent = intent or intents.begin()
  local function search(from)
    local args = { cwd = chat.cwd, query = query, cursor = from, limit = limit }
    client.execute('xcsh.messages', args, function(err, result)
      if err then
        intent:finish()
        return view.error(err)
      end
      local hits, next_cursor = wire.tbl(result.hits), wire.str(wire.tbl(result.older).cursor)
      if #hits == 0 and next_cursor ~= '' then
        return search(next_cursor) -- the server searches a part of a large session at a time
      end
      intent:finish()
      if #hits == 0 then
        return view.notify(('No message contains "%s".'):format(text.one_line(query, 60)))
      end
      intent:show(chat.cwd, 'Go to a message', function()
        choose(chat, query, hits, next_cursor)
      end)
    end)
  end
  search(cursor)
end

---Asks for the text and searches the conversation.
---@param chat xcsh.chat.Chat
function M.ask(chat)
  vim.ui.input({ prompt = 'Search the conversation: ' }, function(query)
    query = vim.trim(query or '')
    if query ~= '' then
      M.find(chat, query)
    end
  end)
end

---:XcshSearchHere [{text}]
---@param query string
function M.command(query)
  local chats = require('xcsh.chat')
  local cwd = require('xcsh.config').root()
  local chat = chats.visible(cwd) and chats.get(cwd) or chats.open(cwd)
  if query == '' then
    return M.ask(chat)
  end
  local intent = intents.begin()
  chats.when_live(chat, function(problem)
    if problem then
      intent:finish()
      return view.error({ message = problem })
    end
    M.find(chat, query, nil, intent)
  end)
end

return M
