-- Loads the messages that are missing in a chat when their place scrolls into view.

local client = require('xcsh.client')
local pages = require('xcsh.chat.pages')
local render = require('xcsh.chat.render')
local wire = require('xcsh.wire')

local M = {}

---Pages of hidden messages add no lines, so that their place stays in view. After this many of
---them, the next one is loaded when the user asks for it.
local max_empty = 5

---@class xcsh.chat.Loading
---@field busy boolean a page is requested
---@field stale boolean the last page was of an older version of the conversation
---@field empty integer consecutive pages without lines

---@return xcsh.chat.Loading
function M.new()
  return { busy = false, stale = false, empty = 0 }
end

---Returns the window that decides what is loaded and kept: the current one, else the first.
---@param chat xcsh.chat.Chat
---@return integer?
local function window_of(chat)
  if vim.api.nvim_get_current_buf() == chat.bufnr then
    return vim.api.nvim_get_current_win()
  end
  return vim.fn.win_findbuf(chat.bufnr)[1]
end

---Returns the message that the user reads; nil at the end of the conversation.
---@param chat xcsh.chat.Chat
---@return xcsh.chat.Item?
function M.reading(chat)
  local window = window_of(chat)
  local row = window and vim.api.nvim_win_get_cursor(window)[1]
  return row and render.item_at(chat.bufnr, row)
end

---Reports whether a call with a pending approval is not in the chat, because the newest messages
---begin with another result of the same answer.
---@param chat xcsh.chat.Chat
local function is_question_missing(chat)
  local s = chat.state
  local first = s.items[1]
  if s.past or not first or first.message.role ~= 'toolResult' then
    return false
  end
  return vim.iter(s.approvals):any(function(prompt)
    return not render.row_of_approval(chat.bufnr, prompt.id)
  end)
end

---Returns the page that belongs to the missing messages in view.
---@param chat xcsh.chat.Chat
---@param window integer
---@return xcsh.chat.Where?
local function wanted(chat, window)
  local rows = render.missing(chat.bufnr)
  if not rows.earlier and not rows.more then
    return nil
  elseif is_question_missing(chat) then
    return 'top'
  end
  local first, last = vim.fn.line('w0', window), vim.fn.line('w$', window)
  if rows.earlier and rows.earlier >= first and rows.earlier <= last then
    return 'top'
  elseif rows.more and rows.more >= first and rows.more <= last then
    local row = vim.api.nvim_win_get_cursor(window)[1]
    local above = row < rows.more or row == rows.more and 2 * row > first + last
    return above and 'down' or 'up'
  end
end

---Begins again after the conversation has changed. Twice in a row is an error.
---@param chat xcsh.chat.Chat
---@return boolean
local function begin_again(chat)
  if chat.loading.stale then
    return false
  end
  chat.loading.stale = true
  require('xcsh.chat').again(chat, true)
  return true
end

---@param err xcsh.Error
local function is_stale(err)
  local kind = wire.str(wire.tbl(err.data).kind)
  return kind == 'stale' or kind == 'notFound'
end

---Requests a page.
---@param chat xcsh.chat.Chat
---@param where xcsh.chat.Where
local function load(chat, where)
  local request = pages.request(chat.state, where)
  if not request or chat.loading.busy then
    return
  end
  chat.loading.busy = true
  local args = vim.tbl_extend('force', request.args, { cwd = chat.cwd })
  client.execute('xcsh.messages', args, function(err, page)
    chat.loading.busy = false
    if not vim.api.nvim_buf_is_valid(chat.bufnr) then
      return
    elseif not pages.fits(chat.state, request) then
      return M.check(chat) -- the conversation has changed, and another page is missing now
    end
    local show = require('xcsh.chat').show
    if not err then
      chat.loading.stale = false
      local lines = vim.api.nvim_buf_line_count(chat.bufnr)
      show(chat, { type = 'page', request = request, page = page }, where)
      local added = vim.api.nvim_buf_line_count(chat.bufnr) ~= lines
      chat.loading.empty = added and 0 or chat.loading.empty + 1
    elseif not is_stale(err) or not begin_again(chat) then
      show(chat, { type = 'page failed', request = request, text = err.message })
    end
  end)
end

---Shows a message that the user read before all messages were requested again, if it still exists.
---@param chat xcsh.chat.Chat
---@param entry_id string
function M.return_to(chat, entry_id)
  local function item()
    for _, list in ipairs({ chat.state.items, chat.state.past and chat.state.past.items or {} }) do
      for _, found in ipairs(list) do
        if found.entryId == entry_id then
          return found
        end
      end
    end
  end
  local function go()
    local first = item() and render.rows_of(chat.bufnr, item())
    for _, window in ipairs(first and vim.fn.win_findbuf(chat.bufnr) or {}) do
      vim.api.nvim_win_set_cursor(window, { first, 0 })
    end
  end
  local show = require('xcsh.chat').show
  if item() then
    return
  end
  local epoch = chat.state.epoch
  local args = { cwd = chat.cwd, around = entry_id, limit = pages.page }
  client.execute('xcsh.messages', args, function(err, page)
    if not err and vim.api.nvim_buf_is_valid(chat.bufnr) then
      show(chat, { type = 'visit', request = { epoch = epoch }, page = page }, nil, item)
      go()
    end
  end)
end

---Loads the missing messages in view.
---@param chat xcsh.chat.Chat
function M.check(chat)
  local window = window_of(chat)
  local s = chat.state
  if not window or not s.sync.live or s.page_failed ~= '' or chat.loading.empty >= max_empty then
    return
  end
  local where = wanted(chat, window)
  if where then
    load(chat, where)
  end
end

---Loads the missing messages at the cursor. Returns false if there are none.
---@param chat xcsh.chat.Chat
---@return boolean
function M.enter(chat)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local missing = render.missing_at(chat.bufnr, row)
  if not missing then
    return false
  end
  chat.loading.empty, chat.loading.stale = 0, false
  load(chat, missing == 'earlier' and 'top' or wanted(chat, vim.api.nvim_get_current_win()) or 'up')
  return true
end

vim.api.nvim_create_autocmd('WinScrolled', {
  group = vim.api.nvim_create_augroup('xcsh_scroll', {}),
  callback = function()
    for id in pairs(vim.v.event) do
      local window = tonumber(id)
      local bufnr = window
        and vim.api.nvim_win_is_valid(window)
        and vim.api.nvim_win_get_buf(window)
      local chat = bufnr and require('xcsh.chat').of_buffer(bufnr)
      if chat and chat.bufnr == bufnr then
        M.check(chat)
      end
    end
  end,
})

return M
