-- The part of a long conversation that a chat holds: its newest messages, and older ones around the
-- place that the user reads. The others are loaded in pages when they scroll into view. This file
-- does not call the editor.

local items = require('xcsh.chat.items')
local wire = require('xcsh.wire')

local M = {}

M.page = 100 -- messages that are loaded at once
M.max = 1000 -- messages that a chat holds at most

---Number of messages that remain when there are too many. The difference to the maximum avoids that
---every further message drops another one.
local kept = 800
---The newest messages are always held, so that new ones are appended to them.
local newest = 100

---@class xcsh.chat.Part consecutive messages
---@field items xcsh.chat.Item[]
---@field before integer number of messages before them in the conversation
---@field cursor? string of the page before them; nil if an entry must be given instead
---@field newer? string cursor of the page after them, likewise

---@param list xcsh.chat.Item[]
---@param first? integer
---@param last? integer
---@return integer messages
local function size(list, first, last)
  local sum = 0
  for i = first or 1, last or #list do
    sum = sum + list[i].size
  end
  return sum
end

---@param part xcsh.chat.Part
---@return integer number of messages up to its end
local function ends(part)
  return part.before + size(part.items)
end

---Returns the number of messages before those in the chat.
---@param s xcsh.chat.State
function M.earlier(s)
  return (s.past or s).before
end

---Returns the number of messages between the older and the newest ones in the chat.
---@param s xcsh.chat.State
function M.between(s)
  return s.past and math.max(s.before - ends(s.past), 1) or 0
end

---@param rest any the messages before or after those of a snapshot or a page
---@return integer count, string? cursor
local function rest_of(rest)
  rest = wire.tbl(rest)
  local cursor = wire.str(rest.cursor)
  return wire.num(rest.count), cursor ~= '' and cursor or nil
end

---Shows the newest messages of a snapshot. The older messages in the chat stay if the conversation
---still contains them.
---@param s xcsh.chat.State
---@param snapshot table
---@param list xcsh.chat.Item[]
---@param at? integer
---@param was_at? integer a common item of the list and the items so far
function M.begin(s, snapshot, list, at, was_at)
  local before, cursor = rest_of(snapshot.older)
  local known = was_at and vim.list_slice(s.items, 1, was_at - 1) or {}
  if at and not s.fresh and before + at - 1 == s.before + size(known) then
    if #known > 0 then
      s.items = items.join(known, list)
      return
    end
  else
    s.past, s.epoch = nil, {}
  end
  s.items, s.before, s.cursor, s.fresh = list, before, cursor, false
end

---@alias xcsh.chat.Where
---| 'top' the page before all messages in the chat
---| 'up' the page before the newest messages
---| 'down' the page after the older messages

---@class xcsh.chat.PageRequest
---@field where xcsh.chat.Where
---@field epoch table
---@field args table<string, any>

---Returns the request for a page; nil if there is none.
---@param s xcsh.chat.State
---@param where xcsh.chat.Where
---@return xcsh.chat.PageRequest?
function M.request(s, where)
  local args = { limit = M.page }
  local part = where ~= 'up' and s.past or s
  if where == 'top' and part.before == 0 or where ~= 'top' and not s.past then
    return nil
  elseif where == 'down' then
    args.cursor = part.newer
    args.after = not part.newer and part.items[#part.items].lastId or nil
  elseif part.cursor then
    args.cursor = part.cursor
  else
    args.before = part.items[1].entryId
  end
  if where ~= 'top' then
    args.limit = math.min(M.page, M.between(s))
  end
  return { where = where, epoch = s.epoch, args = args }
end

---Reports whether the answer to a request still fits the state.
---@param s xcsh.chat.State
---@param request xcsh.chat.PageRequest
function M.fits(s, request)
  local now = M.request(s, request.where)
  return now ~= nil and vim.deep_equal(now.args, request.args) and now.epoch == request.epoch
end

---Returns the messages that are not in a list.
---@param messages table[]
---@param list xcsh.chat.Item[]
---@return table[]
local function without(messages, list)
  local known = {}
  for _, item in ipairs(list) do
    known[item.entryId], known[item.lastId] = true, true
    for _, call in pairs(item.calls) do
      known[call.entryId or ''] = true
    end
  end
  return vim.tbl_filter(function(entry)
    local id = wire.str(wire.tbl(entry).entryId)
    return id == '' or not known[id]
  end, messages)
end

---Joins the older and the newest messages when nothing is missing between them.
---@param s xcsh.chat.State
---@param complete boolean
local function close_gap(s, complete)
  local past = s.past
  if past and (complete or ends(past) >= s.before) then
    s.items, s.before, s.cursor = items.join(past.items, s.items), past.before, past.cursor
    s.past = nil
  end
end

---Adds a page to the messages in the chat.
---@param s xcsh.chat.State
---@param request xcsh.chat.PageRequest
---@param page table
function M.add(s, request, page)
  local messages = wire.tbl(page.messages)
  local past, where = s.past, request.where
  local list
  if where == 'down' then
    local new = without(messages, s.items)
    list = items.fold(new)
    past.items = items.join(past.items, list)
    past.newer = select(2, rest_of(page.newer))
    close_gap(s, #new == 0 or #new < #messages)
  elseif where == 'up' then
    local new = without(messages, past.items)
    list = items.fold(new)
    s.items = items.join(list, s.items)
    local before, cursor = rest_of(page.older)
    s.before, s.cursor = before + #messages - #new, cursor
    close_gap(s, #new == 0 or #new < #messages)
  else
    local part = past or s
    list = items.fold(messages)
    part.items = items.join(list, part.items)
    part.before, part.cursor = rest_of(page.older)
  end
  items.stop(s.running and vim.list_slice(list, 1, #list - 1) or list)
  s.approvals = items.approve(s.items, s.approvals, s.approvals)
end

---Shows the page around an entry instead of the older messages in the chat.
---@param s xcsh.chat.State
---@param page table
function M.visit(s, page)
  local before, cursor = rest_of(page.older)
  local messages = wire.tbl(page.messages)
  local new = without(messages, s.items)
  local list = items.fold(new)
  items.stop(s.running and vim.list_slice(list, 1, #list - 1) or list)
  local newer = select(2, rest_of(page.newer))
  s.past = #list > 0 and { items = list, before = before, cursor = cursor, newer = newer } or nil
  close_gap(s, #new < #messages)
end

---Returns the part of a list around an item that a number of messages has room for.
---@param list xcsh.chat.Item[]
---@param first integer
---@param last integer
---@param at integer
---@param room integer
---@return integer first, integer last
local function around(list, first, last, at, room)
  local a, b = at, at
  local above, below = 0, 0
  room = room - list[at].size
  while true do
    local down = b < last and (below <= above or a == first)
    local next_item = down and list[b + 1] or a > first and list[a - 1] or nil
    if not next_item or next_item.size > room then
      return a, b
    end
    room = room - next_item.size
    if down then
      b, below = b + 1, below + next_item.size
    else
      a, above = a - 1, above + next_item.size
    end
  end
end

---Returns the first item of the newest messages that a number of messages has room for.
---@param list xcsh.chat.Item[]
---@param room integer
---@return integer
local function newest_from(list, room)
  local from = #list + 1
  while from > 1 and list[from - 1].size <= room do
    from = from - 1
    room = room - list[from].size
  end
  return math.min(from, #list)
end

---@param before? xcsh.chat.Item
---@param after? xcsh.chat.Item
local function is_border(before, after)
  if not before or not after then
    return true
  end
  return before.entryId ~= '' and after.entryId ~= '' and before.entryId ~= after.entryId
end

---@param part xcsh.chat.Part
---@param first integer
---@param last integer
---@return xcsh.chat.Part
local function cut(part, first, last)
  -- The messages beyond a border are requested from its entry. Two messages can come from one.
  local list = part.items
  while first < last and not is_border(list[first - 1], list[first]) do
    first = first + 1
  end
  while last > first and not is_border(list[last], list[last + 1]) do
    last = last - 1
  end
  return {
    items = vim.list_slice(list, first, last),
    before = part.before + size(list, 1, first - 1),
    cursor = first == 1 and part.cursor or nil,
    newer = last == #list and part.newer or nil,
  }
end

---@param s xcsh.chat.State
---@param part xcsh.chat.Part
local function set_newest(s, part)
  s.items, s.before, s.cursor = part.items, part.before, part.cursor
end

---@param list xcsh.chat.Item[]
---@param item? xcsh.chat.Item
---@return integer?
local function index_of(list, item)
  for i, other in ipairs(list) do
    if other == item then
      return i
    end
  end
end

---Drops the messages that are far from the one that the user reads, if there are too many.
---@param s xcsh.chat.State
---@param reading? xcsh.chat.Item nil: the newest
function M.trim(s, reading)
  local past = s.past
  if size(s.items) + (past and size(past.items) or 0) <= M.max then
    return
  end
  local count = #s.items
  local at = past and index_of(past.items, reading)
  if past and at then
    local from = newest_from(s.items, newest)
    local room = kept - size(s.items, from)
    s.past = cut(past, around(past.items, 1, #past.items, at, room))
    return set_newest(s, cut(s, newest_from(s.items, kept - size(s.past.items)), count))
  end
  local from = newest_from(s.items, newest)
  at = math.min(index_of(s.items, reading) or count, from)
  local room = kept - size(s.items, from)
  local first, last = from, from - 1
  if from > 1 then
    first, last = around(s.items, 1, from - 1, math.min(at, from - 1), room)
  end
  if last < from - 1 then
    s.past = cut(s, first, last)
    return set_newest(s, cut(s, from, count))
  end
  room = kept - size(s.items, first)
  if past and first == 1 and room > 0 then
    s.past = cut(past, newest_from(past.items, room), #past.items)
  else
    s.past = nil
  end
  set_newest(s, cut(s, first, count))
end

return M
