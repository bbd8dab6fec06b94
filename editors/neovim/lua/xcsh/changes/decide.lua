-- Keeps pending hunks, or undoes them. The server does both; while it works, further keys for
-- the buffer do nothing, so that a key pressed twice decides about nothing else.

local client = require('xcsh.client')
local marks = require('xcsh.changes.marks')
local pending = require('xcsh.changes.pending')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---@type table<integer, boolean>
local busy = {}

---@param count integer
local function changes(count)
  return count == 1 and '1 change' or ('%d changes'):format(count)
end

---@param bufnr integer
---@param chosen xcsh.changes.Mark[]
---@return xcsh.changes.Shown.Hunks? file, table[]? hunks nil if there is nothing to decide
local function begin(bufnr, chosen)
  local file = marks.of(bufnr)
  if busy[bufnr] then
    return nil
  elseif not file or #chosen == 0 then
    local next_key = require('xcsh.config').changes().keys.next
    local where = next_key and (' %s goes to the next one.'):format(next_key) or ''
    view.notify('No change to review here.' .. where)
    return nil
  end
  return file,
    vim.tbl_map(function(mark)
      return { path = file.path, hunk = mark.hunk }
    end, chosen)
end

---@param bufnr integer
---@param file xcsh.changes.Shown.Hunks
---@param name string
---@param args table
---@param done fun(result: table)
---@param failed? fun(err: xcsh.Error): boolean
local function run(bufnr, file, name, args, done, failed)
  busy[bufnr] = true
  args.cwd = file.cwd
  client.execute(name, args, function(err, result)
    busy[bufnr] = nil
    pending.refresh(file.cwd)
    if not err then
      return done(wire.tbl(result))
    elseif not (failed and failed(err)) then
      view.error(err)
    end
  end)
end

---Says what was kept.
---@param result xcsh.wire.KeepResult
---@return string
function M.kept(result)
  local left = wire.num(result.pending)
  local more = left > 0 and (' %d left to review.'):format(left) or ' Nothing left to review.'
  return ('Kept %s.'):format(changes(wire.num(result.kept))) .. more
end

---Keeps hunks: they are reviewed, and no longer shown.
---@param bufnr integer
---@param chosen xcsh.changes.Mark[]
function M.keep(bufnr, chosen)
  local file, hunks = begin(bufnr, chosen)
  if file then
    run(bufnr, file, 'xcsh.keep', { hunks = hunks }, function(result)
      view.notify(M.kept(result))
    end)
  end
end

---@class xcsh.changes.Choice
---@field says string
---@field args table of xcsh.keep

---@param cwd string
---@param args table
local function keep_files(cwd, args)
  args.cwd = cwd
  client.execute('xcsh.keep', args, function(err, result)
    if err then
      return view.error(err)
    end
    pending.refresh(cwd)
    view.notify(M.kept(wire.tbl(result)))
  end)
end

---:XcshKeep lets the user select the files whose changes are kept.
---@param cwd? string
function M.choose(cwd)
  cwd = cwd or require('xcsh.config').root()
  local intent = require('xcsh.intent').begin()
  pending.files(cwd, function(err, files)
    if err or #files == 0 then
      intent:finish()
      return view.error(err or { message = 'No changes to review.', data = { kind = 'cancelled' } })
    end
    local choices = { { says = 'All files', args = { all = true } } }
    for _, file in ipairs(files) do
      local left = changes(wire.num(file.pending))
      local says = ('%s · %s'):format(text.one_line(vim.fn.fnamemodify(file.path, ':~:.')), left)
      table.insert(choices, { says = says, args = { paths = { file.path } } })
    end
    intent:show(cwd, 'Keep changes', function()
      require('xcsh.pickers.select').choose(choices, {
        prompt = 'Keep the changes of',
        kind = 'xcsh.choice',
        format_item = function(choice)
          return choice.says
        end,
      }, function(choice)
        if choice then
          keep_files(cwd, choice.args)
        end
      end)
    end)
  end)
end

---Takes hunks back. Lines that the user changed, too, are shown first.
---@param bufnr integer
---@param chosen xcsh.changes.Mark[]
function M.undo(bufnr, chosen)
  local file, hunks = begin(bufnr, chosen)
  if not file then
    return
  end
  local rewind = require('xcsh.rewind')
  local what = { hunks = hunks }
  local mixed = vim.iter(chosen):any(function(mark)
    return mark.mixed
  end)
  if mixed then
    return rewind.plan(file.cwd, what)
  end
  local args = vim.tbl_extend('error', what, { dryRun = false })
  run(bufnr, file, 'xcsh.rewind', args, function(result)
    if result.rewound ~= true then
      return view.notify(rewind.refused(result), vim.log.levels.WARN)
    end
    view.notify(('Undid %s. To restore: u, or :XcshRedo.'):format(changes(#hunks)))
  end, function(err)
    if wire.tbl(err.data).kind == 'conflict' then
      rewind.plan(file.cwd, what)
      return true
    end
    return false
  end)
end

return M
