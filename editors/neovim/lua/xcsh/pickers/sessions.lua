-- The session picker, with actions on the listed sessions.

local client = require('xcsh.client')
local pickers = require('xcsh.pickers')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---Returns a session as one line.
---@param session xcsh.SessionInfo
---@return string
function M.line(session)
  local parts = { text.one_line(session.name, 200) }
  if session.messageCount then
    local unit = session.messageCount == 1 and 'message' or 'messages'
    parts[#parts + 1] = ('%d %s'):format(session.messageCount, unit)
  end
  parts[#parts + 1] = session.timeAgo or session.modified
  if wire.num(session.branches) > 1 then
    parts[#parts + 1] = ('%d branches'):format(session.branches)
  end
  if wire.num(session.damagedLines) > 0 then
    parts[#parts + 1] = 'damaged'
  end
  if session.live == true then
    parts[#parts + 1] = 'active in this Neovim'
  elseif wire.str(session.lockedBy) ~= '' then
    parts[#parts + 1] = 'running in another program'
  end
  return table.concat(parts, ' · ')
end

---@param root string
local function line_in(root)
  return function(session)
    local line = M.line(session)
    return session.cwd == root and line
      or ('%s · %s'):format(line, text.one_line(wire.str(session.cwd), 200))
  end
end

---Returns a function that previews the conversation of a session without changing it.
---@param root string
local function preview(root)
  local known = {} ---@type table<string, string[]>
  return function(session, show)
    if known[session.path] then
      return show(known[session.path])
    end
    client.execute('xcsh.dump', { cwd = root, source = session.path }, function(err, result)
      known[session.path] = text.lines(err and err.message or result.text)
      show(known[session.path])
    end)
  end
end

---@param session xcsh.SessionInfo
---@param root string
---@param go_on fun()
local function delete(session, root, go_on)
  vim.ui.select({ 'Delete', 'Cancel' }, {
    prompt = ('Delete "%s"?'):format(text.one_line(session.name, 100)),
    kind = 'xcsh.choice',
  }, function(answer)
    if answer ~= 'Delete' then
      return go_on()
    end
    local args = { cwd = root, source = session.path, confirm = true }
    client.execute('xcsh.delete', args, function(err, result)
      if err then
        view.error(err)
      else
        view.result('xcsh.delete', result, false, root)
      end
      go_on()
    end)
  end)
end

---Returns the actions on a session, apart from selecting it. Actions that keep the list open call
---again, which reloads it.
---@param root string
---@param again fun(other_scope?: boolean)
---@return xcsh.PickerAction[]
function M.actions(root, again)
  local function run(name, extra)
    return function(session)
      local args = vim.tbl_extend('force', { cwd = root }, extra(session))
      require('xcsh.commands').run(name, args)
    end
  end
  local function source(session)
    return { source = session.path }
  end
  return {
    { key = '<C-f>', does = 'fork', run = run('xcsh.fork', source) },
    { key = '<C-e>', does = 'export', run = run('xcsh.export', source) },
    {
      key = '<C-x>',
      does = 'delete',
      run = function(session)
        delete(session, root, again)
      end,
    },
    {
      key = '<C-y>',
      does = 'copy ID',
      run = function(session)
        local register = require('xcsh.config').register()
        vim.fn.setreg(register, session.id)
        view.notify(('Copied session ID %s to register %s.'):format(session.id, register))
      end,
    },
    {
      key = '<C-g>',
      does = 'all folders',
      run = function()
        again(true)
      end,
    },
  }
end

---@class xcsh.SessionQuestion
---@field prompt string
---@field cwd string
---@field scope? string
---@field sessions? xcsh.SessionInfo[] nil: those of the folder, or of all with scope "all"
---@field actions boolean whether the list offers actions

---Lets the user select a session.
---@param question xcsh.SessionQuestion
---@param answer xcsh.Answer
function M.choose(question, answer)
  local root = question.cwd

  ---@param sessions xcsh.SessionInfo[]
  ---@param scope string?
  ---@param ask fun(scope: string?)
  local function pick(sessions, scope, ask)
    if #sessions == 0 then
      return answer({ message = 'No sessions found.' })
    end
    local function again(other)
      local wide = scope == 'all'
      if other then
        wide = not wide
      end
      ask(wide and 'all' or nil)
    end
    pickers.pick({
      prompt = question.prompt,
      kind = 'xcsh.session',
      items = sessions,
      format = line_in(root),
      preview = preview(root),
      actions = question.actions and M.actions(root, again) or {},
      on_choice = function(session)
        answer(nil, session and session.path)
      end,
    })
  end

  local function ask(scope)
    local intent = require('xcsh.intent').begin()
    client.execute('xcsh.list', { cwd = root, scope = scope }, function(err, result)
      intent:finish()
      if err then
        return answer(err)
      end
      intent:show(root, question.prompt, function()
        pick(wire.tbl(result.sessions), scope, ask)
      end)
    end)
  end

  -- Sessions that came with the question need not be requested.
  if question.sessions then
    pick(question.sessions, question.scope, ask)
  else
    ask(question.scope)
  end
end

return M
