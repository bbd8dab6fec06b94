-- Pending items: proposed changes, tool calls that need permission, questions from the server, and
-- results that arrived while the user was typing. Nothing here opens by itself. A one-line message
-- announces an item and names the command that opens it.

local M = {}

---@class xcsh.WaitingItem
---@field kind 'change'|'approval'|'question'|'result'
---@field cwd string
---@field says string description on one line
---@field open fun() shows it and takes the focus; called only for the user's own command
---@field review? fun(how?: 'inline'|'tab') shows the change that it is about
---@field where? fun(): integer?, integer? buffer and row, from 1
---@field answers? boolean a tool call is waiting for it
---@field quiet? boolean it is already visible
---@field once? boolean it is removed when opened

---@type xcsh.WaitingItem[] the oldest first
local items = {}

---@type table<string, string> kind to the command that opens it
local commands = {
  change = ':XcshReview',
  result = ':XcshReview',
  approval = ':XcshApprovals',
  question = ':XcshApprovals',
}

---@param item xcsh.WaitingItem
local function remove(item)
  for i, known in ipairs(items) do
    if known == item then
      table.remove(items, i)
      return vim.cmd.redrawstatus({ bang = true })
    end
  end
end

---Announces an item. Insert mode overwrites the message, so it is repeated afterwards.
---@param item xcsh.WaitingItem
local function announce(item)
  local text = require('xcsh.text').one_line(item.says, 300)
  local line = ('Pending (%s): %s'):format(commands[item.kind], text)
  if item.review and item.kind ~= 'change' then
    line = line .. ' :XcshReview shows the change.'
  end
  require('xcsh.view').notify(line)
  if vim.api.nvim_get_mode().mode:find('^[iR]') then
    vim.api.nvim_create_autocmd('InsertLeave', {
      once = true,
      callback = vim.schedule_wrap(function()
        if vim.tbl_contains(items, item) then
          require('xcsh.view').notify(line)
        end
      end),
    })
  end
end

---Adds an item.
---@param item xcsh.WaitingItem
---@return fun() remove
function M.add(item)
  items[#items + 1] = item
  vim.cmd.redrawstatus({ bang = true })
  if not item.quiet then
    announce(item)
  end
  return function()
    remove(item)
  end
end

---Announces the items that a closed chat showed.
---@param cwd string
function M.closed(cwd)
  for _, item in ipairs(items) do
    if item.quiet and item.cwd == cwd then
      item.quiet = false
      announce(item)
    end
  end
end

---@param item xcsh.WaitingItem
---@return number rows from the cursor; math.huge in another buffer
local function distance(item)
  if item.where then
    local bufnr, row = item.where()
    if row and bufnr == vim.api.nvim_get_current_buf() then
      return math.abs(row - vim.api.nvim_win_get_cursor(0)[1])
    end
  end
  return math.huge
end

---@param item xcsh.WaitingItem
local function answers(item)
  return item.kind == 'approval' or item.kind == 'question' or item.answers == true
end

---Returns the item that a command opens: the nearest in this buffer, else the oldest.
---@param wanted fun(item: xcsh.WaitingItem): boolean
---@return xcsh.WaitingItem?
local function choose(wanted)
  local best, least
  for _, item in ipairs(items) do
    local far = distance(item)
    if wanted(item) and (not best or far < least) then
      best, least = item, far
    end
  end
  return best
end

---@param item? xcsh.WaitingItem
---@param how? 'inline'|'tab'
---@param review? boolean show the change, if it is about one
local function open(item, how, review)
  if not item then
    return require('xcsh.view').notify('Nothing is pending.')
  end
  if item.once then
    remove(item)
  end
  if review and item.review then
    return item.review(how)
  end
  item.open()
end

---:XcshReview opens a pending change, else any pending item.
---@param how? string
function M.review(how)
  if how and how ~= '' and how ~= 'inline' and how ~= 'tab' then
    return require('xcsh.view').error({ message = 'Use :XcshReview inline or :XcshReview tab.' })
  end
  local item = choose(function(item)
    return item.kind == 'change' or item.review ~= nil
  end) or choose(function()
    return true
  end)
  open(item, how ~= '' and how or nil, true)
end

---:XcshApprovals opens the pending approval or question.
function M.approvals()
  open(choose(answers))
end

---Reports whether a question is pending.
---@param cwd string
---@return boolean
function M.asks(cwd)
  return vim.iter(items):any(function(item)
    return item.kind == 'question' and item.cwd == cwd
  end)
end

---Returns the number of pending items.
---@param cwd? string
---@return integer
function M.count(cwd)
  local count = 0
  for _, item in ipairs(items) do
    count = count + ((not cwd or item.cwd == cwd) and 1 or 0)
  end
  return count
end

---Removes items that need an answer, because the server has stopped.
function M.forget()
  items = vim.tbl_filter(function(item)
    return not answers(item)
  end, items)
end

---Suspends the handler of a server request until there is an answer. Neovim runs each handler in
---its own coroutine.
---@generic T
---@param start fun(answer: fun(value: T))
---@return T
function M.await(start)
  local co = coroutine.running()
  local done, suspended, value
  start(function(with)
    if done then
      return
    end
    done, value = true, with
    if suspended then
      vim.schedule(function()
        coroutine.resume(co)
      end)
    end
  end)
  if not done then
    suspended = true
    coroutine.yield()
  end
  return value
end

return M
