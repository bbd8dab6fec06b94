-- Search results in the quickfix list: messages of the conversation, and sessions. Each item is a
-- buffer of its own name; :cnext, :cc and <CR> open it, which jumps to the message in the chat, or
-- shows the session.

local client = require('xcsh.client')
local intents = require('xcsh.intent')
local text = require('xcsh.text')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

---Hits that are requested at once, and at most.
local page, most = 500, 5000

---What the items of a quickfix list open, by the names of their buffers.
---@type table<string, fun(bufnr: integer)>
local targets = {}

---@param name string
---@return string
local function quoted(name)
  return '"' .. text.one_line(name, 60) .. '"'
end

---Shows a list in the quickfix window; its first item is not opened.
---@param title string
---@param items table[]
---@param open table<string, fun(bufnr: integer)>
local function show(title, items, open)
  targets = open
  vim.fn.setqflist({}, ' ', { title = title, items = items })
  vim.cmd('botright copen')
end

---@class xcsh.Found
---@field chat xcsh.chat.Chat
---@field query string
---@field hits table[] newest first
---@field all boolean the whole conversation was searched

---@param found xcsh.Found
local function list_messages(found)
  local items, open = {}, {}
  local search = require('xcsh.chat.search')
  for i = #found.hits, 1, -1 do
    local hit = found.hits[i]
    local name = ('xcsh://message/%d'):format(#items + 1)
    items[#items + 1] = {
      filename = name,
      module = search.role(hit),
      lnum = 1,
      text = text.one_line(wire.str(hit.excerpt), 300),
    }
    open[name] = function()
      search.open(found.chat, hit, found.query)
    end
  end
  show('xcsh: messages with ' .. quoted(found.query), items, open)
  if not found.all then
    view.notify(('These are the newest %d messages with the text.'):format(#items))
  end
end

---Searches the whole conversation, in pages.
---@param chat xcsh.chat.Chat
---@param query string
---@param done fun(err: xcsh.Error?, found: xcsh.Found)
local function search_messages(chat, query, done)
  local found = { chat = chat, query = query, hits = {}, all = true }
  local function next_page(cursor)
    local args = { cwd = chat.cwd, query = query, cursor = cursor, limit = page, history = true }
    client.execute('xcsh.messages', args, function(err, result)
      if err then
        return done(err, found)
      end
      vim.list_extend(found.hits, wire.tbl(result.hits))
      local older = wire.str(wire.tbl(result.older).cursor)
      if older ~= '' and #found.hits < most then
        return next_page(older)
      end
      found.all = older == ''
      done(nil, found)
    end)
  end
  next_page()
end

---:XcshFind {text}
---@param query string
function M.messages(query)
  local chats = require('xcsh.chat')
  local cwd = require('xcsh.config').root()
  local chat = chats.visible(cwd) and chats.get(cwd) or chats.open(cwd)
  local intent = intents.begin()
  chats.when_live(chat, function(problem)
    if problem then
      intent:finish()
      return view.error({ message = problem })
    end
    search_messages(chat, query, function(err, found)
      intent:finish()
      if err then
        return view.error(err)
      elseif #found.hits == 0 then
        return view.notify(('No message contains %s.'):format(quoted(query)))
      end
      intent:show(cwd, 'Messages with ' .. quoted(query), function()
        list_messages(found)
      end)
    end)
  end)
end

---Fills the buffer of a session with its newest messages; <CR> resumes it.
---@param bufnr integer
---@param session table
---@param cwd string
local function show_session(bufnr, session, cwd)
  require('xcsh.pickers.sessions').preview(cwd)(session, function(lines)
    if vim.api.nvim_buf_is_valid(bufnr) then
      local head = { '# ' .. text.one_line(wire.str(session.name), 200), '' }
      head[#head + 1] = 'Press <CR> to resume this session.'
      head[#head + 1] = ''
      view.fill(bufnr, vim.list_extend(head, lines))
    end
  end)
  vim.bo[bufnr].buftype = 'nofile'
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].modeline = false
  vim.bo[bufnr].filetype = 'markdown'
  vim.keymap.set('n', '<CR>', function()
    require('xcsh.commands').run('xcsh.resume', { cwd = cwd, target = session.path })
  end, { buffer = bufnr, nowait = true, desc = 'xcsh: resume' })
end

---Returns why a session fits the query: the text around it, if the server sends that.
---@param session table
---@return string
local function reason(session)
  local line = require('xcsh.pickers.sessions').line(session)
  local snippet = wire.str(wire.tbl(session.snippet).text)
  if session.match == 'fuzzy' then
    line = line .. ' · similar'
  end
  return snippet ~= '' and line .. ' · ' .. text.one_line(snippet, 200) or line
end

---:XcshSearch[!] {words}
---@param query string
---@param everywhere boolean
function M.sessions(query, everywhere)
  local cwd = require('xcsh.config').root()
  local intent = intents.begin()
  local args = { cwd = cwd, query = query, limit = page, scope = everywhere and 'all' or nil }
  client.execute('xcsh.list', args, function(err, result)
    intent:finish()
    if err then
      return view.error(err)
    end
    local items, open = {}, {}
    for _, session in ipairs(wire.tbl(result.sessions)) do
      local name = ('xcsh://session/%d'):format(#items + 1)
      items[#items + 1] = { filename = name, module = 'session', lnum = 1, text = reason(session) }
      open[name] = function(bufnr)
        show_session(bufnr, session, cwd)
      end
    end
    if #items == 0 then
      return view.notify(('No session contains %s.'):format(quoted(query)))
    end
    intent:show(cwd, 'Sessions with ' .. quoted(query), function()
      show('xcsh: sessions with ' .. quoted(query), items, open)
    end)
  end)
end

---Jumps to a message: the window gets its buffer back, because the message is in the chat.
---@param bufnr integer
---@param jump fun(bufnr: integer)
local function leave(bufnr, jump)
  local window = vim.fn.bufwinid(bufnr)
  local before = vim.fn.bufnr('#')
  vim.schedule(function()
    if window ~= -1 and vim.api.nvim_win_is_valid(window) then
      if before == -1 or not vim.api.nvim_buf_is_loaded(before) then
        before = vim.api.nvim_create_buf(true, false)
      end
      vim.api.nvim_win_set_buf(window, before)
    end
    pcall(vim.api.nvim_buf_delete, bufnr, { force = true })
    jump(bufnr)
  end)
end

local group = vim.api.nvim_create_augroup('xcsh_find', {})

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = { 'xcsh://message/*', 'xcsh://session/*' },
  callback = function(event)
    vim.bo[event.buf].buftype = 'nofile'
    vim.bo[event.buf].buflisted = false
    local open = targets[event.match]
    if not open then
      return view.notify('This search is over. Search again.')
    elseif vim.startswith(event.match, 'xcsh://session/') then
      return open(event.buf)
    end
    leave(event.buf, open)
  end,
})

return M
