-- The rules for the messages that a chat holds, without an editor.

local runner = require('runner')
local case, eq = runner.case, runner.eq

local function entry(number)
  return {
    entryId = 'e' .. number,
    message = { role = number % 2 == 1 and 'user' or 'assistant', content = 'm' .. number },
  }
end

---@param first integer
---@param last integer
local function messages(first, last)
  local list = {}
  for number = first, last do
    list[#list + 1] = entry(number)
  end
  return list
end

---Returns a state with the newest messages of a conversation, as after a snapshot.
local function state_of(total, first)
  local s = require('xcsh.chat.state').new()
  s.items = require('xcsh.chat.items').fold(messages(first, total))
  s.before = first - 1
  return s
end

local function number_of(item)
  return tonumber(item.entryId:sub(2))
end

---Returns the first and last message of each part; fails if one is missing in a part.
local function parts(s)
  local found = {}
  for _, part in ipairs({ s.past or false, s }) do
    if part then
      local first = number_of(part.items[1])
      for i, item in ipairs(part.items) do
        eq(first + i - 1, number_of(item))
      end
      eq(first - 1, part.before)
      found[#found + 1] = { first, number_of(part.items[#part.items]) }
    end
  end
  return found
end

case('the newest messages and those around the reader stay', function()
  local pages = require('xcsh.chat.pages')
  local s = state_of(1200, 1)
  s.cursor = 'of the page before'
  pages.trim(s, nil)
  eq({ { 401, 1200 } }, parts(s))
  eq(nil, s.cursor)

  s = state_of(1200, 1)
  pages.trim(s, s.items[10])
  eq({ { 1, 700 }, { 1101, 1200 } }, parts(s))
  eq(400, pages.between(s))

  s = state_of(1200, 1)
  pages.trim(s, s.items[600])
  eq({ { 251, 950 }, { 1101, 1200 } }, parts(s))

  s = state_of(1000, 1)
  pages.trim(s, s.items[10])
  eq({ { 1, 1000 } }, parts(s))
end)

---Answers a request like the server, with entries instead of cursors.
local function answer(total, request)
  local args = request.args
  local first, last ---@type integer, integer
  if args.before then
    last = tonumber(args.before:sub(2)) - 1
    first = math.max(last - args.limit + 1, 1)
  else
    first = tonumber(args.after:sub(2)) + 1
    last = math.min(first + args.limit - 1, total)
  end
  local page = { messages = messages(first, last) }
  page.older = first > 1 and { count = first - 1 } or nil
  page.newer = last < total and { count = total - last } or nil
  return page
end

case('any order of scrolling and new messages keeps the parts whole and small', function()
  local pages = require('xcsh.chat.pages')
  local random = 7
  local function below(n)
    random = (random * 16807) % 2147483647
    return random % n
  end
  for _ = 1, 30 do
    local total = 300 + below(3000)
    local s = state_of(total, total - 99)
    for _ = 1, 80 do
      local list = (s.past and below(2) == 1 and s.past or s).items
      local reading = below(5) > 0 and list[1 + below(#list)] or nil
      local choice = below(4)
      local where = ({ 'top', 'up', 'down' })[choice]
      local request = where and pages.request(s, where)
      if request then
        reading = where == 'down' and s.past.items[#s.past.items]
          or (where == 'top' and s.past or s).items[1]
        eq(true, pages.fits(s, request))
        pages.add(s, request, answer(total, request))
      elseif not where then
        for _ = 1, below(50) do
          total = total + 1
          s.items[#s.items + 1] = require('xcsh.chat.items').fold({ entry(total) })[1]
        end
      end
      pages.trim(s, reading)
      local found, sum, kept = parts(s), 0, reading == nil
      for _, part in ipairs(found) do
        sum = sum + part[2] - part[1] + 1
        local number = reading and number_of(reading) or 0
        kept = kept or number >= part[1] and number <= part[2]
      end
      eq({ true, true, total }, { sum <= 1000, kept, found[#found][2] })
      eq(true, found[#found][2] - found[#found][1] >= 99)
      eq(true, #found == 1 or found[1][2] < found[2][1] - 1)
    end
  end
end)

case('a page that overlaps the messages in the chat is joined with them once', function()
  local pages = require('xcsh.chat.pages')
  for _, last in ipairs({ 'up', 'down' }) do
    local s = state_of(1100, 1)
    pages.trim(s, s.items[10])
    eq({ { 1, 700 }, { 1001, 1100 } }, parts(s))
    -- The server can count more messages than there are, so that the gap seems to be larger.
    s.before = s.before + 5
    for _, where in ipairs({ 'up', 'down', 'up', last }) do
      eq(true, s.past ~= nil)
      local page = answer(1100, assert(pages.request(s, where)))
      page.older.count = page.older.count + (where == 'up' and 5 or 0)
      pages.add(s, pages.request(s, where), page)
    end
    eq(nil, s.past)
    eq({ { 1, 1100 } }, parts(s))
  end
end)

case('the line in place of missing messages is short', function()
  local draw = require('xcsh.chat.draw')
  eq({ '⋯ 1 earlier message', '' }, draw.missing('earlier', 1, '').lines)
  eq({ '⋯ 999 more messages', '' }, draw.missing('more', 999, '').lines)
  eq({ '⋯ 1,234,567 earlier messages', '' }, draw.missing('earlier', 1234567, '').lines)
  local failed = draw.missing('earlier', 5, 'No\nserver.').lines
  eq(2, #failed)
end)
