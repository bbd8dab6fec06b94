-- The changes of a session in the quickfix list, one item per hunk, with the proposed ones.

local client = require('xcsh.client')
local intents = require('xcsh.intent')
local patches = require('xcsh.changes.patches')
local pending = require('xcsh.changes.pending')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---The newest messages that are read from a server without records.
local most_messages = 500

---Returns the changes that wait for the user's permission.
---@param cwd string
---@return table[] items
local function proposed(cwd)
  local changes = {}
  for _, params in ipairs(require('xcsh.approvals').waiting(cwd)) do
    local path = wire.texts(params.paths)[1]
    if path and wire.str(params.diff) ~= '' then
      table.insert(changes, { path = path, patch = params.diff, proposed = true })
    end
  end
  return patches.items(cwd, changes)
end

---@param file table
---@param hunk table
---@return table item
local function hunk_item(file, hunk)
  local found = patches.hunks(wire.str(hunk.text))
  local said = found[1] and patches.describe(found[1])
    or ('+%d −%d'):format(wire.num(hunk.newLines), wire.num(hunk.oldLines))
  local prefix = hunk.state == 'kept' and '[kept] ' or ''
  local note = hunk.mixed == true and ' (with your changes)' or ''
  local first = found[1] and found[1].first or wire.num(hunk.newStart)
  return { filename = file.path, lnum = math.max(1, first), text = prefix .. said .. note }
end

---Describes a file whose hunks are not listed.
---@param file table
---@return table item
local function file_item(file)
  local parts = { text.one_line(wire.str(file.status), 40) }
  if wire.str(file.from) ~= '' then
    parts[1] = 'renamed from ' .. text.one_line(file.from)
  end
  if file.binary == true then
    parts[#parts + 1] = 'not a text'
  elseif wire.num(file.added) + wire.num(file.removed) > 0 then
    parts[#parts + 1] = ('+%d −%d'):format(wire.num(file.added), wire.num(file.removed))
  end
  if wire.str(file.text) ~= '' then
    parts[#parts + 1] = text.one_line(file.text, 300)
  end
  local said = table.concat(parts, ' · ')
  -- Opening a file that is gone would begin a new one.
  if file.status == 'deleted' then
    return { text = ('%s: %s'):format(text.one_line(file.path), said), valid = 0 }
  end
  return { filename = file.path, lnum = 1, text = said }
end

---Returns the items of a result of xcsh.changes.
---@param result table
---@return table[]
function M.items(result)
  local items = {}
  for _, file in ipairs(wire.tbl(result.files)) do
    file = wire.tbl(file)
    local hunks = wire.tbl(file.hunks)
    local gone = file.status == 'deleted'
    if wire.str(file.path) == '' or #items >= patches.most then
      break
    elseif #hunks == 0 or gone then
      items[#items + 1] = file_item(file)
    end
    for i = 1, gone and 0 or math.min(#hunks, patches.most - #items) do
      items[#items + 1] = hunk_item(file, wire.tbl(hunks[i]))
    end
  end
  for _, limit in ipairs(wire.tbl(result.limits)) do
    local said = wire.str(wire.tbl(limit).text)
    if said ~= '' then
      items[#items + 1] = { text = 'Not known: ' .. text.one_line(said, 400), valid = 0 }
    end
  end
  return items
end

---@param result table
---@param since string
local function title_of(result, since)
  local totals = wire.tbl(result.totals)
  local parts = {
    ('xcsh: changes of the %s'):format(since == 'session' and 'session' or 'last turn'),
    pending.words(totals),
  }
  if wire.num(totals.pending) > 0 then
    parts[#parts + 1] = ('%d to review'):format(totals.pending)
  end
  if result.complete == false then
    parts[#parts + 1] = 'not complete'
  end
  return table.concat(parts, ' · ')
end

---Shows the list, or says that there is none.
---@param intent xcsh.Intent
---@param cwd string
---@param items table[]
---@param title string
---@param nothing string
local function show(intent, cwd, items, title, nothing)
  items = vim.list_extend(items, proposed(cwd))
  if #items == 0 then
    intent:finish()
    return view.notify(nothing)
  end
  intent:show(cwd, 'Changes', function()
    vim.fn.setqflist({}, ' ', { title = title, items = items })
    vim.cmd('botright copen')
  end)
end

---Lists the changes in the results of the last turn's calls, from a server without records.
---@param intent xcsh.Intent
---@param cwd string
local function from_results(intent, cwd)
  client.execute('xcsh.snapshot', { cwd = cwd, last = most_messages }, function(err, snapshot)
    if err then
      intent:finish()
      return view.error(err)
    end
    local changes, ran = patches.of_turn(wire.tbl(wire.tbl(snapshot).messages))
    local note = ran and ' (without those of commands)' or ''
    local title = 'xcsh: changes of the last turn' .. note
    local nothing = ('The last turn changed no files%s.'):format(note)
    show(intent, cwd, patches.items(cwd, changes), title, nothing)
  end)
end

---@param intent xcsh.Intent
---@param cwd string
---@param since 'turn'|'session'
local function from_records(intent, cwd, since)
  local args = { cwd = cwd, since = since, hunks = true }
  client.execute('xcsh.changes', args, function(err, result)
    if err then
      intent:finish()
      return view.error(err)
    end
    result = wire.tbl(result)
    pending.read(cwd)
    local nothing = ('The %s changed no files.'):format(
      since == 'session' and 'session' or 'last turn'
    )
    show(intent, cwd, M.items(result), title_of(result, since), nothing)
  end)
end

M.whats = { 'turn', 'session', 'diff' }

---:XcshChanges [turn|session|diff]
---@param what? string
---@param cwd? string
function M.list(what, cwd)
  what = what ~= '' and what or 'turn'
  if not vim.tbl_contains(M.whats, what) then
    local usage = 'Use :XcshChanges, :XcshChanges session or :XcshChanges diff.'
    return view.error({ message = usage })
  end
  cwd = cwd or require('xcsh.config').root()
  if what == 'diff' then
    return require('xcsh.changes.diff').step(1, cwd)
  end
  local intent = intents.begin()
  client.ready(cwd, function(problem)
    if problem then
      intent:finish()
      return view.error({ message = problem })
    elseif client.can('xcsh.changes') then
      return from_records(intent, cwd, what)
    end
    from_results(intent, cwd)
  end)
end

return M
