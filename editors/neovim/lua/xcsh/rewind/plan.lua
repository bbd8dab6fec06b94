-- A plan of a rewind in words: the lines of its preview.

local diff = require('xcsh.diff')
local page = require('xcsh.chat.page')
local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---More lines of the diff of a file are not shown.
local max_lines = 400

---@class xcsh.rewind.Preview
---@field lines string[]
---@field marks table[] as in xcsh.chat.Page
---@field paths table<integer, string> the path that a row is about

---@param count number
---@param one string
---@param many string
local function counted(count, one, many)
  return count == 1 and '1 ' .. one or ('%d %s'):format(count, many)
end

---@param path string
---@param cwd string
local function name_of(path, cwd)
  local root = cwd:gsub('/*$', '/')
  return text.one_line(vim.startswith(path, root) and path:sub(#root + 1) or path, 200)
end

---@param ranges any
local function lines_in(ranges)
  local parts = {}
  for _, range in ipairs(wire.tbl(ranges)) do
    local first, last = wire.num(wire.tbl(range).start), wire.num(wire.tbl(range)['end'])
    parts[#parts + 1] = first == last and ('%d'):format(first) or ('%d-%d'):format(first, last)
  end
  local plural = #parts > 1 or (parts[1] or ''):find('-', 1, true)
  return #parts > 0 and (plural and 'lines ' or 'line ') .. table.concat(parts, ', ') or ''
end

---The sentences of conflicts without one of the server's.
---@type table<string, string>
local reasons = {
  overlaps = 'You changed the same lines.',
  binary = 'It is not a text, and it has changed since.',
  missing = 'What was there before is not stored any more.',
  damaged = 'What is stored of it is damaged.',
  large = 'It is too large to be stored.',
  kind = 'Something else is at this path now.',
  encoding = 'Its text is not UTF-8.',
  alsoEditor = 'You saved it while the command ran.',
  headMoved = 'A commit was made since.',
  denied = 'It cannot be changed.',
  locked = 'It is locked.',
  readOnly = 'It cannot be written.',
}

---Returns why a path cannot be undone.
---@param path table
---@return string
function M.reason(path)
  local said = wire.str(path.text)
  if said == '' then
    said = reasons[path.reason] or 'It cannot be undone.'
  end
  local hint = wire.str(path.hint)
  if hint ~= '' then
    said = ('%s It may have been renamed to %s.'):format(said, hint)
  end
  return text.one_line(said, 400)
end

---@param path table
local function note(path)
  if path.action == 'conflict' then
    return M.reason(path)
  end
  local parts = {}
  if wire.num(path.added) + wire.num(path.removed) > 0 then
    parts[#parts + 1] = ('+%d −%d'):format(wire.num(path.added), wire.num(path.removed))
  end
  if path.buffer == true then
    parts[#parts + 1] = 'in its buffer'
  end
  local yours = lines_in(path.yours)
  if yours ~= '' then
    parts[#parts + 1] = ('your %s %s'):format(yours, yours:find('^lines') and 'stay' or 'stays')
  end
  return table.concat(parts, ' · ')
end

---@type table<string, string>
local groups = {
  conflict = 'XcshError',
  merge = 'XcshToolRunning',
  none = 'XcshNote',
}

---Returns what a plan does, in a sentence.
---@param plan table
---@return string
function M.summary(plan)
  local files = 0
  for _, path in ipairs(wire.tbl(plan.plan)) do
    local action = wire.tbl(path).action
    files = files + ((action == 'none' or action == 'conflict') and 0 or 1)
  end
  local changing = counted(files, 'file changes', 'files change')
  local parts = { files == 0 and 'No file changes' or changing }
  if plan.conversation == true then
    local back = counted(wire.num(plan.prompts), 'prompt', 'prompts')
    parts[#parts + 1] = 'the conversation goes back ' .. back
  end
  local conflicts = wire.num(plan.conflicts)
  if conflicts > 0 then
    parts[#parts + 1] = counted(conflicts, 'file', 'files') .. ' cannot be undone'
  end
  return table.concat(parts, ', ') .. '.'
end

---Reports whether a plan changes nothing.
---@param plan table
---@return boolean
function M.is_empty(plan)
  local changes = vim.iter(wire.tbl(plan.plan)):any(function(path)
    return wire.tbl(path).action ~= 'none'
  end)
  return not changes and plan.conversation ~= true
end

---Reports whether a plan has a file that only HEAD keeps from being undone.
---@param plan table
---@return boolean
function M.needs_head(plan)
  return vim.iter(wire.tbl(plan.plan)):any(function(path)
    return wire.tbl(path).action == 'conflict' and path.reason == 'headMoved'
  end)
end

---@param to xcsh.chat.Page
---@param paths table<integer, string>
---@param path table
---@param cwd string
---@param width integer
local function add_path(to, paths, path, cwd, width)
  local action = text.one_line(wire.str(path.action), 20)
  local name = name_of(wire.str(path.path), cwd)
  local pad = (' '):rep(math.max(0, width - vim.api.nvim_strwidth(name)))
  local line = ('  %-9s %s%s  %s'):format(action, name, pad, note(path)):gsub('%s+$', '')
  local row = to:add(line)
  local group = groups[action] or 'XcshTool'
  to:mark(row, 2, { end_col = 2 + #action, hl_group = group })
  paths[row] = path.path
end

---@param to xcsh.chat.Page
---@param paths table<integer, string>
---@param path table
---@param cwd string
local function add_diff(to, paths, path, cwd)
  local lines = text.lines((wire.str(path.patch):gsub('\n$', '')))
  to:add('')
  paths[to:add(name_of(path.path, cwd), 'XcshTool')] = path.path
  for i, line in ipairs(lines) do
    if i > max_lines then
      to:add(('… %d more lines'):format(#lines - max_lines), 'XcshNote')
      break
    end
    -- The names of the file are above.
    if line:find('^[@ +-]') and not line:find('^%-%-%- ') and not line:find('^%+%+%+ ') then
      local row = to:add(line)
      local group = diff.group(line)
      if group then
        to:mark(row, 0, { line_hl_group = group, end_row = row - 1 })
      end
      paths[row] = path.path
    end
  end
end

---Returns the preview of a plan.
---@param plan table
---@param about { cwd: string, title: string, note?: string, keys: string, left_out: string[] }
---@return xcsh.rewind.Preview
function M.preview(plan, about)
  local to, paths, width = page.new(), {}, 0
  to:add(text.one_line(about.title, 300), 'Title')
  to:add(M.summary(plan))
  if about.note then
    to:add(text.one_line(about.note, 400), 'XcshApproval')
  end
  to:add(about.keys, 'XcshNote')
  to:add('')
  for _, path in ipairs(wire.tbl(plan.plan)) do
    local name = name_of(wire.str(wire.tbl(path).path), about.cwd)
    width = math.max(width, vim.api.nvim_strwidth(name))
  end
  width = math.min(width, 60)
  for _, path in ipairs(wire.tbl(plan.plan)) do
    if wire.str(wire.tbl(path).path) ~= '' then
      add_path(to, paths, path, about.cwd, width)
    end
  end
  for _, path in ipairs(about.left_out) do
    local row = to:add('  left out  ' .. name_of(path, about.cwd), 'XcshNote')
    paths[row] = path
  end
  if wire.tbl(plan.head).moved == true then
    to:add('')
    to:add('HEAD has moved since. Commits stay; files change as if against them.', 'XcshApproval')
  end
  for i, limit in ipairs(wire.tbl(plan.limits)) do
    if i == 1 then
      to:add('')
    end
    to:add('Not known: ' .. text.one_line(wire.str(wire.tbl(limit).text), 400), 'XcshNote')
  end
  for _, path in ipairs(wire.tbl(plan.plan)) do
    if wire.str(wire.tbl(path).patch) ~= '' then
      add_diff(to, paths, path, about.cwd)
    end
  end
  return { lines = to.lines, marks = to.marks, paths = paths }
end

return M
