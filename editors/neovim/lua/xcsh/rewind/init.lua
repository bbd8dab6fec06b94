-- Undoes what a session did to files, with or without its conversation: the prompt to go back
-- to, what is taken along, the preview of the plan, and the plan carried out.

local client = require('xcsh.client')
local intents = require('xcsh.intent')
local plans = require('xcsh.rewind.plan')
local tabs = require('xcsh.rewind.tab')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---The newest messages in which prompts are found.
local most_messages = 500

---@param count number
---@param one string
---@param many string
local function counted(count, one, many)
  return count == 1 and '1 ' .. one or ('%d %s'):format(count, many)
end

---@param path string
local function base_name(path)
  return text.one_line(vim.fs.basename(path), 80)
end

---Says what a hook has refused.
---@param result table
---@return string
function M.refused(result)
  local by = wire.str(result.cancelledBy)
  by = by ~= '' and ': canceled by ' .. text.one_line(by, 100) or ''
  return ('Nothing was changed%s.'):format(by)
end

---Says what was done.
---@param result table
---@param redo boolean
---@return string
local function done_text(result, redo)
  local files = counted(wire.num(result.files), 'file', 'files')
  local said = redo and ('Restored %s.'):format(files)
    or ('Undid the changes of %s. :XcshRedo restores them.'):format(files)
  local unsaved = vim.tbl_map(base_name, wire.texts(result.unsaved))
  if #unsaved > 0 then
    said = ('%s Not saved: %s.'):format(said, table.concat(unsaved, ', '))
  end
  local commits = #wire.texts(result.commits)
  if commits > 0 then
    local stay = commits == 1 and 'stays' or 'stay'
    said = ('%s %s of the session %s.'):format(said, counted(commits, 'commit', 'commits'), stay)
  end
  return said
end

---@class xcsh.rewind.What one target of xcsh.rewind
---@field before? string
---@field hunks? table[]
---@field paths? string[]
---@field redo? string
---@field conversation? boolean
---@field acrossHead? boolean

---@param cwd string
---@param what xcsh.rewind.What
---@param result table
local function finished(cwd, what, result)
  if result.rewound ~= true then
    return view.notify(M.refused(result), vim.log.levels.WARN)
  end
  require('xcsh.buffers').reload()
  require('xcsh.changes.pending').refresh(cwd)
  view.notify(done_text(result, what.redo ~= nil))
  if wire.str(result.editorText) ~= '' then
    view.prompt(result.editorText, cwd)
  end
end

---@param err xcsh.Error
---@return string kind, string path
local function about(err)
  local data = wire.tbl(err.data)
  return wire.str(data.kind), wire.str(data.path)
end

---Requests a plan.
---@param cwd string
---@param what xcsh.rewind.What
---@param left_out string[]
---@param done fun(err: xcsh.Error?, plan: table)
local function request(cwd, what, left_out, done)
  local except = #left_out > 0 and left_out or nil
  local args = vim.tbl_extend('force', what, { cwd = cwd, except = except, dryRun = true })
  client.execute('xcsh.rewind', args, function(err, plan)
    done(err, wire.tbl(plan))
  end)
end

---@param what xcsh.rewind.What
local function asks_of(what)
  local ask = {}

  ---@param tab xcsh.rewind.Tab
  ---@param note? string
  function ask.again(tab, note)
    tab.busy = true
    request(tab.cwd, what, tab.left_out, function(err, plan)
      tab.busy = false
      if not tab:is_open() then
        return
      elseif err then
        return view.error(err)
      end
      tab.plan = plan
      tab:show(note)
    end)
  end

  ---@param tab xcsh.rewind.Tab
  function ask.across(tab)
    what.acrossHead = true
    ask.again(tab)
  end

  ---@param tab xcsh.rewind.Tab
  function ask.carry_out(tab)
    local except = #tab.left_out > 0 and tab.left_out or nil
    local args = vim.tbl_extend('force', what, {
      cwd = tab.cwd,
      except = except,
      planToken = wire.str(tab.plan.planToken),
    })
    client.execute('xcsh.rewind', args, function(err, result)
      tab.busy = false
      local kind, path = about(err or {})
      if not err then
        tab:close()
        return finished(tab.cwd, what, wire.tbl(result))
      elseif not tab:is_open() or kind ~= 'stale' and kind ~= 'conflict' then
        return view.error(err)
      end
      -- Nothing was changed; the user decides about the files as they are now.
      local name = path ~= '' and base_name(path) or 'Something'
      ask.again(tab, name .. ' has changed since. Nothing was changed. This is a new plan.')
    end)
  end

  return ask
end

---@param what xcsh.rewind.What
---@param prompt? string
local function title_of(what, prompt)
  if what.redo then
    return 'Restore what the last rewind undid'
  elseif what.hunks then
    return 'Undo changes'
  end
  local how = what.conversation and 'files and conversation' or 'files only'
  if prompt then
    return ('Rewind to before "%s" · %s'):format(text.one_line(prompt, 100), how)
  end
  return 'Rewind · ' .. how
end

---Shows the plan of a rewind in a tab.
---@param cwd string
---@param what xcsh.rewind.What
---@param prompt? string the text of the prompt
function M.plan(cwd, what, prompt)
  local intent = intents.begin()
  request(cwd, what, {}, function(err, plan)
    if err then
      intent:finish()
      return view.error(err)
    elseif plans.is_empty(plan) and #wire.tbl(plan.limits) == 0 then
      intent:finish()
      return view.notify('There is nothing to undo: the files already have this state.')
    end
    intent:show(cwd, 'The plan of the rewind', function()
      tabs.open({
        cwd = cwd,
        title = title_of(what, prompt),
        plan = plan,
        ask = asks_of(what),
      })
    end)
  end)
end

---Goes back in the conversation only; the files stay.
---@param cwd string
---@param entry string
local function branch(cwd, entry)
  client.execute('xcsh.branch', { cwd = cwd, entryId = entry }, function(err, result)
    if err then
      return view.error(err)
    end
    result = wire.tbl(result)
    local left = wire.num(result.changesLeft)
    local said = 'The conversation goes on from before this message.'
    if left > 0 then
      said = ('%s The changes of %s stay.'):format(said, counted(left, 'file', 'files'))
    end
    view.notify(said)
    view.prompt(result.editorText, cwd)
  end)
end

---@type { says: string, conversation: boolean, files: boolean }[]
local ways = {
  { says = 'Files and conversation', files = true, conversation = true },
  { says = 'Files only', files = true, conversation = false },
  { says = 'Conversation only', files = false, conversation = true },
}

---Asks what goes back to before a prompt.
---@param cwd string
---@param entry string
---@param prompt string
function M.choose_way(cwd, entry, prompt)
  vim.ui.select(ways, {
    prompt = ('Rewind to before "%s"'):format(text.one_line(prompt, 60)),
    kind = 'xcsh.rewind',
    format_item = function(way)
      return way.says
    end,
  }, function(way)
    if not way then
      return
    elseif not way.files then
      return branch(cwd, entry)
    end
    M.plan(cwd, { before = entry, conversation = way.conversation or nil }, prompt)
  end)
end

---@class xcsh.rewind.Prompt
---@field entryId string
---@field said string
---@field time number milliseconds since 1970; 0 if unknown

---Returns the prompts of a conversation, the newest first.
---@param snapshot table
---@return xcsh.rewind.Prompt[]
local function prompts_of(snapshot)
  local prompts = {}
  local words = require('xcsh.chat.prompt')
  for _, stored in ipairs(wire.tbl(snapshot.messages)) do
    local message = wire.tbl(wire.tbl(stored).message)
    local entry = wire.str(stored.entryId)
    if entry ~= '' and words.is(message) then
      local said = words.words({ message = message })
      table.insert(prompts, 1, {
        entryId = entry,
        said = text.one_line(said, 200),
        time = wire.num(message.timestamp),
      })
    end
  end
  return prompts
end

---@param prompt xcsh.rewind.Prompt
local function prompt_line(prompt)
  if prompt.time <= 0 then
    return prompt.said
  end
  local seconds = math.floor(prompt.time / 1000)
  local today = os.date('%Y-%m-%d', seconds) == os.date('%Y-%m-%d')
  return os.date(today and '%H:%M' or '%Y-%m-%d %H:%M', seconds) .. '  ' .. prompt.said
end

---@param cwd string
---@param done fun(prompts: xcsh.rewind.Prompt[], intent: xcsh.Intent)
local function with_prompts(cwd, done)
  local intent = intents.begin()
  client.execute('xcsh.snapshot', { cwd = cwd, last = most_messages }, function(err, snapshot)
    if err then
      intent:finish()
      return view.error(err)
    end
    done(prompts_of(wire.tbl(snapshot)), intent)
  end)
end

---:XcshRewind [{entry}]
---@param entry? string
---@param cwd? string
function M.start(entry, cwd)
  cwd = cwd or require('xcsh.config').root()
  with_prompts(cwd, function(prompts, intent)
    if entry and entry ~= '' then
      local known = vim.iter(prompts):find(function(prompt)
        return prompt.entryId == entry
      end)
      return intent:show(cwd, 'Rewind', function()
        M.choose_way(cwd, entry, known and known.said or entry)
      end)
    elseif #prompts == 0 then
      intent:finish()
      return view.notify('The session has no prompts.')
    end
    intent:show(cwd, 'Rewind', function()
      require('xcsh.pickers.select').choose(prompts, {
        prompt = 'Rewind to before',
        kind = 'xcsh.entry',
        format_item = prompt_line,
      }, function(prompt)
        if prompt then
          M.choose_way(cwd, prompt.entryId, prompt.said)
        end
      end)
    end)
  end)
end

---Shows the plan that undoes the last turn's changes of files.
---@param cwd string
function M.last_turn(cwd)
  with_prompts(cwd, function(prompts, intent)
    intent:finish()
    if #prompts == 0 then
      return view.notify('The session has no prompts.')
    end
    M.plan(cwd, { before = prompts[1].entryId }, prompts[1].said)
  end)
end

---:XcshRedo takes the newest rewind back. Its plan is shown only if something is in the way.
---@param cwd? string
function M.redo(cwd)
  cwd = cwd or require('xcsh.config').root()
  local what = { redo = '' }
  request(cwd, what, {}, function(err, plan)
    if err then
      return view.error(err)
    elseif wire.num(plan.conflicts) > 0 or wire.tbl(plan.head).moved == true then
      return M.plan(cwd, what)
    end
    local args = { cwd = cwd, redo = '', planToken = wire.str(plan.planToken) }
    client.execute('xcsh.rewind', args, function(failed, result)
      if failed then
        return view.error(failed)
      end
      finished(cwd, what, wire.tbl(result))
    end)
  end)
end

return M
