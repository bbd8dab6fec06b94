-- The conversation of a folder in a buffer: one chat per folder, kept while it is hidden.
-- It begins with a snapshot and follows the server's events.

local approve = require('xcsh.chat.approve')
local client = require('xcsh.client')
local live = require('xcsh.chat.live')
local pages = require('xcsh.chat.pages')
local render = require('xcsh.chat.render')
local scroll = require('xcsh.chat.scroll')
local state = require('xcsh.chat.state')
local windows = require('xcsh.chat.windows')
local wire = require('xcsh.wire')

local M = {}

---@class xcsh.chat.Chat
---@field cwd string
---@field bufnr integer the buffer of the conversation
---@field input integer the buffer of the prompt
---@field state xcsh.chat.State
---@field asked integer requests for a snapshot so far
---@field pending boolean a redraw is scheduled
---@field asks_state boolean a state is requested
---@field lost boolean the server ended since the last snapshot
---@field attached xcsh.chat.Attachment[] attached to the next message
---@field returned string[] messages that the last turn returned
---@field unanswered table<string, boolean> messages whose requests have no answer yet
---@field waiting fun(problem: string?)[] called once the session is shown, or on failure
---@field loading xcsh.chat.Loading
---@field unsent? string the prompt that waits for a model; it is in the prompt buffer
---@field choosing? boolean the user chooses a model for it
---@field layout? { before: xcsh.chat.Layout, after?: xcsh.chat.Layout } sizes of the user's windows
---@field returns? string entry of the message to return to after a reload

---@type table<string, xcsh.chat.Chat>
local chats = {}

---@param cwd? string
---@return xcsh.chat.Chat?
function M.get(cwd)
  local chat = chats[cwd or require('xcsh.config').root()]
  if chat and vim.api.nvim_buf_is_valid(chat.bufnr) then
    return chat
  end
end

---Returns the chat to which a conversation or prompt buffer belongs.
---@param bufnr integer
---@return xcsh.chat.Chat?
function M.of_buffer(bufnr)
  for _, chat in pairs(chats) do
    if chat.bufnr == bufnr or chat.input == bufnr then
      return chat
    end
  end
end

---@param chat xcsh.chat.Chat
---@param where? xcsh.chat.Where the page that was added
---@param item? xcsh.chat.Item the message that the user reads, if not the one at the cursor
local function draw(chat, where, item)
  pages.trim(chat.state, item or scroll.reading(chat))
  render.update(chat.bufnr, chat.state, where)
  approve.drawn(chat)
  require('xcsh.chat.input').hint(chat)
  windows.refresh(chat)
end

---Redraws the changed parts, once for all changes in this turn of the event loop.
---@param chat xcsh.chat.Chat
local function redraw(chat)
  if chat.pending then
    return
  end
  chat.pending = true
  vim.schedule(function()
    chat.pending = false
    if vim.api.nvim_buf_is_valid(chat.bufnr) then
      draw(chat)
      scroll.check(chat)
    end
  end)
end

---@param chat xcsh.chat.Chat
---@param action xcsh.chat.Action
local function reduce(chat, action)
  state.reduce(chat.state, action)
  if state.wants_snapshot(chat.state) then
    M.sync(chat)
  end
  redraw(chat)
  local sync = chat.state.sync
  if sync.live and chat.returns then
    local entry_id = chat.returns
    chat.returns = nil
    scroll.return_to(chat, entry_id)
  end
  if #chat.waiting > 0 and (sync.live or sync.failed ~= '') then
    local waiting = chat.waiting
    chat.waiting = {}
    for _, callback in ipairs(waiting) do
      callback(not sync.live and sync.failed or nil)
    end
  end
end

---Applies an action to a chat and draws it now.
---@param chat xcsh.chat.Chat
---@param action xcsh.chat.Action
---@param where? xcsh.chat.Where
---@param item? fun(): xcsh.chat.Item? returns the message that the user reads
function M.show(chat, action, where, item)
  reduce(chat, action)
  draw(chat, where, item and item())
end

---Calls back once the chat follows its session: a message sent earlier could reach another session.
---Requests a snapshot if none is pending.
---@param chat xcsh.chat.Chat
---@param callback fun(problem: string?)
function M.when_live(chat, callback)
  local sync = chat.state.sync
  if sync.live then
    return callback()
  end
  table.insert(chat.waiting, callback)
  if sync.asked == 0 then
    M.again(chat)
  end
end

---Requests what the engine can do, if that is unknown.
---@param chat xcsh.chat.Chat
local function ask_state(chat)
  if chat.asks_state or not live.needs_state(chat.state) then
    return
  end
  chat.asks_state = true
  client.execute('xcsh.state', { cwd = chat.cwd }, function(err, result)
    chat.asks_state = false
    if not err then
      reduce(chat, { type = 'state', state = wire.tbl(result) })
    end
  end)
end

---Requests what is left of the last turn's changes, after some of them were undone.
---@param chat xcsh.chat.Chat
local function ask_changes(chat)
  if not chat.state.card then
    return
  end
  client.execute('xcsh.changes', { cwd = chat.cwd, since = 'turn' }, function(err, result)
    local totals = not err and wire.tbl(wire.tbl(result).totals) or {}
    reduce(chat, { type = 'changes', changes = totals })
  end)
end

---Resumes the session that was shown when the server exited, unless another conversation was
---started meanwhile.
---@param chat xcsh.chat.Chat
---@param go_on fun()
local function restore(chat, go_on)
  local shown = chat.state.session
  local file = shown and wire.str(shown.file) or ''
  if not chat.lost or file == '' or not vim.uv.fs_stat(file) then
    chat.lost = false
    return go_on()
  end
  client.execute('xcsh.state', { cwd = chat.cwd }, function(err, now)
    if err then
      return go_on()
    end
    chat.lost = false
    -- A session that is still being read has an unknown number of messages.
    local _, reads = wire.pending(now)
    if now.file == file or wire.num(now.messageCount) > 0 or reads then
      return go_on()
    end
    local args = { cwd = chat.cwd, target = file, onOtherProject = 'open' }
    client.execute('xcsh.resume', args, function(problem)
      if problem then
        reduce(chat, { type = 'notice', text = problem.message, error = true })
      end
      go_on()
    end)
  end)
end

---Requests a snapshot. Starts the server if it is not running.
---@param chat xcsh.chat.Chat
function M.sync(chat)
  chat.asked = chat.asked + 1
  local ask = chat.asked
  state.reduce(chat.state, { type = 'asked', ask = ask })
  restore(chat, function()
    client.execute('xcsh.snapshot', { cwd = chat.cwd, last = pages.page }, function(err, snapshot)
      if err then
        reduce(chat, { type = 'failed', ask = ask, text = err.message })
      else
        reduce(chat, { type = 'snapshot', ask = ask, snapshot = snapshot })
        if type(snapshot.changes) == 'table' then
          require('xcsh.changes.pending').learn(chat.cwd, snapshot.changes)
        end
        if chat.state.sync.live then
          require('xcsh.questions').restore(chat.cwd, chat.state.questions)
        end
      end
    end)
  end)
  redraw(chat)
end

---Requests a snapshot again, also after a failure.
---@param chat xcsh.chat.Chat
---@param fresh? boolean drop the messages in the chat
function M.again(chat, fresh)
  chat.state.sync.running = true
  chat.state.sync.asked = 0
  reduce(chat, { type = 'again', fresh = fresh })
end

---@param chat xcsh.chat.Chat
---@param text string
---@param is_error? boolean
function M.notice(chat, text, is_error)
  reduce(chat, { type = 'notice', text = text, error = is_error })
end

---Shows the answer of a slash command, if the result of a prompt is one.
---@param chat xcsh.chat.Chat
---@param result any
function M.note(chat, result)
  if wire.str(wire.tbl(result).command) ~= '' then
    reduce(chat, { type = 'note', result = result })
  end
end

---@param cwd string
---@return xcsh.chat.Chat
local function create(cwd)
  local chat = {
    cwd = cwd,
    state = state.new(),
    asked = 0,
    pending = false,
    asks_state = false,
    lost = false,
    attached = {},
    returned = {},
    unanswered = {},
    waiting = {},
    loading = scroll.new(),
  }
  chat.bufnr = windows.conversation(cwd)
  chat.input = require('xcsh.chat.input').create(cwd)
  chats[cwd] = chat
  require('xcsh.chat.keys').set(chat)
  approve.watch(chat)
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = chat.bufnr,
    callback = function()
      render.forget(chat.bufnr)
      approve.forget(chat.bufnr)
      if chats[cwd] == chat then
        chats[cwd] = nil
      end
    end,
  })
  M.sync(chat)
  return chat
end

---Shows the chat of a folder and puts the cursor into its prompt.
---@param cwd? string
---@return xcsh.chat.Chat
function M.open(cwd)
  require('xcsh.highlights').define()
  cwd = cwd or require('xcsh.config').root()
  local chat = M.get(cwd) or create(cwd)
  if not vim.api.nvim_buf_is_valid(chat.input) then
    chat.input = require('xcsh.chat.input').create(cwd)
    require('xcsh.chat.keys').set(chat)
  end
  windows.show(chat)
  require('xcsh.turns').seen(cwd)
  redraw(chat)
  return chat
end

---Reports whether the conversation of a folder is visible.
---@param cwd string
function M.visible(cwd)
  local chat = M.get(cwd)
  return chat ~= nil and #vim.fn.win_findbuf(chat.bufnr) > 0
end

---Hides the chat, which continues to follow the session.
---@param cwd? string
function M.hide(cwd)
  local chat = M.get(cwd)
  if chat then
    windows.hide(chat)
  end
end

---@param cwd? string
function M.toggle(cwd)
  cwd = cwd or require('xcsh.config').root()
  if M.visible(cwd) then
    M.hide(cwd)
  else
    M.open(cwd)
  end
end

---Replaces the prompt of a folder with a text; undo restores the previous content. Returns false if
---the chat is not visible.
---@param cwd string
---@param text string
function M.edit(cwd, text)
  local chat = M.get(cwd)
  if not chat or not M.visible(cwd) then
    return false
  end
  require('xcsh.chat.input').set(chat, text)
  return true
end

client.on('notification', function(params)
  local chat = M.get(params.cwd)
  if chat then
    if params.reason == 'reload' and M.visible(params.cwd) then
      local item = scroll.reading(chat)
      chat.returns = item and item.entryId ~= '' and item.entryId or nil
    end
    reduce(chat, { type = 'notification', n = params })
    if params.event then
      if params.event.type == 'engine_changed' then
        ask_state(chat)
      elseif params.event.type == 'rewound' then
        ask_changes(chat)
      end
      require('xcsh.chat.input').follow(chat, params.event)
      require('xcsh.chat.ready').follow(chat, params.event)
      require('xcsh.chat.slash').follow(chat, params.event)
    end
  end
end)

client.on('read', function(params)
  local chat = M.get(params.cwd)
  if chat then
    reduce(chat, { type = 'read', n = params })
  end
end)

client.on('models', function()
  for _, chat in pairs(chats) do
    require('xcsh.chat.ready').check(chat)
  end
end)

client.on('server', function(running, restart)
  for _, chat in pairs(chats) do
    if chat.state.sync.running ~= running then
      chat.lost = chat.lost or not running
      reduce(chat, { type = 'server', running = running })
    end
    if not running and restart and M.visible(chat.cwd) then
      vim.schedule(function()
        M.again(chat)
      end)
    end
  end
end)

vim.api.nvim_create_autocmd('WinClosed', {
  group = vim.api.nvim_create_augroup('xcsh_chat', {}),
  callback = function(event)
    local chat = M.of_buffer(event.buf)
    local window = tonumber(event.match)
    if chat and window and vim.api.nvim_win_is_valid(window) then
      windows.closed(chat, window)
    end
    if chat and chat.bufnr == event.buf then
      vim.schedule(function()
        if not M.visible(chat.cwd) then
          require('xcsh.waiting').closed(chat.cwd)
        end
      end)
    end
  end,
})

return M
