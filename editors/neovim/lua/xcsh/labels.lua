-- What the user reads about values of the protocol, and about statistics.

local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---@type table<string, string>
local meanings = {
  ['read-only'] = 'Read files only',
  ask = 'Ask first: before every edit and command',
  ['auto-edit'] = 'Edit files in this folder; ask before commands',
  yolo = 'Full access: never ask',
  minimal = 'Minimal',
  low = 'Low',
  medium = 'Medium',
  high = 'High',
  xhigh = 'Extra high',
  max = 'Maximum',
  plan = 'Plan before changing files',
  plan_paused = 'Pause plan mode',
  none = 'No plan mode',
  follow = 'Continue on the other branch',
  stay = 'Stay on your branch',
  fork = 'Fork your branch into a new session',
}

---Returns a value of a list, with its meaning.
---@param value string
---@return string
function M.choice(value)
  return meanings[value] and ('%s · %s'):format(value, meanings[value]) or text.one_line(value)
end

---@type table<string, string>
local modes = { yolo = 'full access' }

---Returns the name of an approval mode.
---@param mode string
---@return string
function M.mode(mode)
  return modes[mode] or text.one_line(mode, 40)
end

---Returns a number with separators, such as 12,345.
---@param number number
---@return string
local function grouped(number)
  local digits = ('%d'):format(number):reverse():gsub('(%d%d%d)', '%1,'):reverse()
  return (digits:gsub('^,', ''))
end

---@param lines string[]
---@param title string
---@param counts any numbers by name
local function add_counts(lines, title, counts)
  local names = vim.tbl_keys(wire.tbl(counts))
  table.sort(names)
  if #names > 0 then
    vim.list_extend(lines, { '', title })
  end
  for _, name in ipairs(names) do
    local line = '  %-16s %10s'
    lines[#lines + 1] = line:format(text.one_line(name, 60), grouped(wire.num(counts[name])))
  end
end

---Returns the statistics of a session as lines.
---@param stats any xcsh.wire.Stats
---@return string[]
function M.stats(stats)
  stats = wire.tbl(stats)
  local usage, context = wire.tbl(stats.usage), wire.tbl(stats.contextUsage)
  local lines = { 'Tokens' }
  for _, row in ipairs({
    { 'Input', usage.input },
    { 'Output', usage.output },
    { 'Cache reads', usage.cacheRead },
    { 'Cache writes', usage.cacheWrite },
  }) do
    lines[#lines + 1] = ('  %-16s %10s'):format(row[1], grouped(wire.num(row[2])))
  end
  if wire.num(usage.cost) > 0 then
    lines[#lines + 1] = ('  %-16s %10s'):format('Cost', ('$%.2f'):format(usage.cost))
  end
  if wire.num(context.percent) > 0 then
    lines[#lines + 1] = ('  %-16s %9d%%'):format('Context used', context.percent)
  end
  add_counts(lines, 'Messages', stats.messages)
  add_counts(lines, 'Tool calls', stats.toolCalls)
  vim.list_extend(lines, { '', ('%s entries'):format(grouped(wire.num(stats.entries))) })
  return lines
end

return M
