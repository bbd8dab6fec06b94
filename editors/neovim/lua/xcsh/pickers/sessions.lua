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
    local standing = require('xcsh.turns').standing(wire.str(session.cwd))
    parts[#parts + 1] = 'active in this Neovim' .. (standing and ', ' .. standing or '')
  elseif wire.str(session.lockedBy) ~= '' then
    parts[#parts + 1] = 'running in another program'
  end
  vim.list_extend(parts, require('xcsh.team.rows').parts(session))
  return table.concat(parts, ' · ')
end

---@param root string
local function line_in(root)
  return function(session)
    local line = M.line(session)
    return (session.cwd == root or require('xcsh.team.rows').is_remote(session)) and line
      or ('%s · %s'):format(line, text.one_line(wire.str(session.cwd), 200))
  end
end

---The newest messages that a preview shows.
local preview_messages, preview_bytes = 30, 256 * 1024

---@param page any a result of xcsh.messages
---@return string[]
local function preview_lines(page)
  local lines = {}
  local older = wire.num(wire.tbl(wire.tbl(page).older).count)
  if older > 0 then
    lines = { ('%d earlier messages'):format(older), '' }
  end
  for _, entry in ipairs(wire.tbl(wire.tbl(page).messages)) do
    local message = wire.tbl(wire.tbl(entry).message)
    local said = vim.trim(wire.text_of(message))
    if said ~= '' then
      lines[#lines + 1] = '## ' .. text.one_line(wire.str(message.role), 40)
      lines[#lines + 1] = ''
      vim.list_extend(lines, text.lines(said))
      lines[#lines + 1] = ''
    end
  end
  return lines
end

---Returns a function that previews the newest messages of a session without changing it.
---@param root string
function M.preview(root)
  local known = {} ---@type table<string, string[]>
  return function(session, show)
    if known[session.path] or not session.path then
      return show(known[session.path] or {})
    end
    local args = { cwd = root, source = session.path }
    args.limit, args.maxBytes = preview_messages, preview_bytes
    client.execute('xcsh.messages', args, function(err, page)
      known[session.path] = err and text.lines(err.message) or preview_lines(page)
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
        require('xcsh.results').show('xcsh.delete', result, false, root)
      end
      go_on()
    end)
  end)
end

---Returns the actions on a session, apart from selecting it. Actions that keep the list open call
---again, which reloads it.
---@param root string
---@param again fun(other_scope?: string)
---@return xcsh.PickerAction[]
function M.actions(root, again)
  local rows = require('xcsh.team.rows')
  local function run(name, extra)
    return function(session)
      if rows.is_remote(session) then
        return view.notify(rows.pull_first)
      end
      local args = vim.tbl_extend('force', { cwd = root }, extra(session))
      require('xcsh.commands').run(name, args)
    end
  end
  local function source(session)
    return { source = session.path }
  end
  local list = {
    { key = '<C-f>', does = 'fork', run = run('xcsh.fork', source) },
    { key = '<C-e>', does = 'export', run = run('xcsh.export', source) },
    {
      key = '<C-x>',
      does = 'delete',
      run = function(session)
        if rows.is_remote(session) then
          return view.notify(rows.pull_first)
        end
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
        again('all')
      end,
    },
  }
  if require('xcsh.team').is_on() then
    list[#list + 1] = {
      key = '<C-t>',
      does = 'team',
      run = function()
        again('team')
      end,
    }
  end
  return list
end

---The number of sessions that are requested at once.
M.page = 100

---@class xcsh.SessionQuestion
---@field prompt string
---@field cwd string
---@field scope? string
---@field sessions? xcsh.SessionInfo[] nil: those of the folder, or of all with scope "all"
---@field actions boolean whether the list offers actions

---@class xcsh.SessionSearch what a list shows
---@field scope? string
---@field query? string
---@field sessions xcsh.SessionInfo[] so far
---@field cursor? string of the sessions after them

---A line of the list that isn't a session.
---@class xcsh.SessionStep
---@field says string
---@field open fun()

---Lets the user select a session.
---@param question xcsh.SessionQuestion
---@param answer xcsh.Answer
function M.choose(question, answer)
  local root = question.cwd
  local ask ---@type fun(search: xcsh.SessionSearch)

  ---@param search xcsh.SessionSearch
  ---@return xcsh.SessionStep[]
  local function steps(search)
    local found = {}
    if search.cursor then
      found[1] = {
        says = 'More sessions',
        open = function()
          ask(search)
        end,
      }
    end
    -- A short list is searched where it is shown.
    if search.cursor or search.query then
      found[#found + 1] = {
        says = 'Search sessions',
        open = function()
          vim.ui.input({ prompt = 'Search sessions: ', default = search.query }, function(query)
            if not query then
              return answer(nil, nil)
            end
            query = vim.trim(query)
            ask({ scope = search.scope, query = query ~= '' and query or nil, sessions = {} })
          end)
        end,
      }
    end
    return found
  end

  ---@param search xcsh.SessionSearch
  local function pick(search)
    if #search.sessions == 0 and not search.query then
      local where = search.scope == 'team' and 'No sessions of this project are shared.'
      return answer({ message = where or 'No sessions found.' })
    end
    ---Shows the list again; with another scope, that one, or the folder's sessions if it was shown.
    local function again(other)
      local scope = search.scope
      if other then
        scope = other ~= scope and other or nil
      end
      ask({ scope = scope, query = search.query, sessions = {} })
    end
    local format = line_in(root)
    local prompt = question.prompt
    if search.query then
      prompt = ('%s ("%s")'):format(prompt, text.one_line(search.query, 60))
    end
    -- Actions are for sessions; the other lines only open a list.
    local actions = vim.tbl_map(function(action)
      return vim.tbl_extend('force', action, {
        run = function(item)
          return (item.open or action.run)(item)
        end,
      })
    end, question.actions and M.actions(root, again) or {})
    pickers.pick({
      prompt = prompt,
      kind = 'xcsh.session',
      items = vim.list_extend(vim.list_slice(search.sessions), steps(search)),
      format = function(item)
        return item.says or format(item)
      end,
      preview = M.preview(root),
      actions = actions,
      on_choice = function(item)
        if item and item.open then
          return item.open()
        end
        answer(nil, item and require('xcsh.team.rows').target(item))
      end,
    })
  end

  function ask(search)
    local intent = require('xcsh.intent').begin()
    local args = { cwd = root, limit = M.page }
    args.scope, args.query, args.cursor = search.scope, search.query, search.cursor
    client.execute('xcsh.list', args, function(err, result)
      intent:finish()
      if err then
        return answer(err)
      end
      local next_cursor = wire.str(result.nextCursor)
      local sessions = vim.list_slice(search.sessions)
      vim.list_extend(sessions, wire.tbl(result.sessions))
      local now = vim.tbl_extend('force', search, { sessions = sessions })
      now.cursor = next_cursor ~= '' and next_cursor or nil
      intent:show(root, question.prompt, function()
        pick(now)
      end)
    end)
  end

  -- Sessions that came with the question need not be requested.
  if question.sessions then
    pick({ scope = question.scope, sessions = question.sessions })
  else
    ask({ scope = question.scope, sessions = {} })
  end
end

return M
