-- The keys of a chat, in one table that both the mappings and the help window of ? use.

local approve = require('xcsh.chat.approve')
local branch = require('xcsh.chat.branch')
local input = require('xcsh.chat.input')
local paths = require('xcsh.chat.paths')
local render = require('xcsh.chat.render')
local search = require('xcsh.chat.search')

local M = {}

---@class xcsh.chat.Key
---@field modes string[]
---@field lhs string
---@field does string
---@field run fun(chat: xcsh.chat.Chat)
---@field yields? boolean a mapping of the user's for the same key is kept

---@param step 1|-1
local function jump(step)
  return function(chat)
    for _ = 1, vim.v.count1 do
      local row = render.prompt_from(chat.bufnr, vim.api.nvim_win_get_cursor(0)[1], step)
      if not row and step == -1 then
        row = render.missing(chat.bufnr).earlier -- which loads it
      end
      if not row then
        return
      end
      vim.cmd("normal! m'")
      vim.api.nvim_win_set_cursor(0, { row, 0 })
    end
  end
end

---@param decision xcsh.Decision
local function answer(decision)
  return function(chat)
    approve.answer(chat, decision)
  end
end

---@param behavior 'steer'|'followUp'
local function send(behavior)
  return function(chat)
    input.send(chat, behavior)
  end
end

---Stops the running operation. If there is none, the key has its usual meaning.
local function stop(chat)
  if chat.state.running or chat.state.compacting or chat.state.bash then
    input.abort(chat)
  elseif vim.api.nvim_get_mode().mode:find('^i') then
    vim.cmd.stopinsert()
  else
    require('xcsh.view').notify('Nothing is running.')
  end
end

local function write(chat)
  require('xcsh.chat.windows').show(chat)
  vim.cmd.startinsert({ bang = true })
end

local function hide(chat)
  require('xcsh.chat').hide(chat.cwd)
end

local function help()
  M.help()
end

---@type xcsh.chat.Key[]
M.conversation = {
  { modes = { 'n' }, lhs = 'a', does = 'allow the pending tool call', run = answer('once') },
  {
    modes = { 'n' },
    lhs = 's',
    does = 'allow it and similar calls for this session',
    run = answer('session'),
  },
  {
    modes = { 'n' },
    lhs = 'S',
    does = 'allow all reading tools of its server for this session',
    run = answer('session-wider'),
  },
  { modes = { 'n' }, lhs = 'd', does = 'deny it', run = answer('deny') },
  {
    modes = { 'n' },
    lhs = 'o',
    does = 'review the proposed change in the file',
    run = approve.review,
  },
  {
    modes = { 'n' },
    lhs = 'A',
    does = "answer the question of the engine's extension",
    run = function(chat)
      require('xcsh.questions').answer(chat.cwd)
    end,
  },
  {
    modes = { 'n' },
    lhs = 'E',
    does = 'choose what answers, or how to continue after a failure',
    run = function(chat)
      if not require('xcsh.chat.ready').offer(chat) then
        require('xcsh.choices').after_failure(chat.cwd)
      end
    end,
  },
  { modes = { 'n' }, lhs = '[[', does = 'go to the previous message', run = jump(-1) },
  { modes = { 'n' }, lhs = ']]', does = 'go to the next message', run = jump(1) },
  {
    modes = { 'n' },
    lhs = 'b',
    does = 'switch to another branch at this message',
    run = branch.switch,
  },
  {
    modes = { 'n' },
    lhs = 'B',
    does = "decide about another program's branch",
    run = function(chat)
      require('xcsh.foreign').choose(chat.cwd, chat.state.foreign)
    end,
  },
  {
    modes = { 'n' },
    lhs = 'e',
    does = 'edit this message on a new branch',
    run = branch.edit,
  },
  {
    modes = { 'n' },
    lhs = 'F',
    does = 'fork the session before this message',
    run = branch.fork,
  },
  {
    modes = { 'n' },
    lhs = 'c',
    does = 'list the changes of the last turn',
    run = function(chat)
      require('xcsh.changes').list('turn', chat.cwd)
    end,
  },
  {
    modes = { 'n' },
    lhs = 'u',
    does = 'undo the changes of the last turn',
    run = function(chat)
      require('xcsh.rewind').last_turn(chat.cwd)
    end,
  },
  {
    modes = { 'n' },
    lhs = 'r',
    does = 'rewind to before this message',
    run = branch.rewind,
  },
  { modes = { 'n' }, lhs = 'gf', does = 'open the file under the cursor', run = paths.open },
  {
    modes = { 'n' },
    lhs = '<CR>',
    does = 'open the file, toggle the fold, or load messages',
    run = paths.enter,
  },
  { modes = { 'n' }, lhs = 'g/', does = 'search the conversation', run = search.ask },
  { modes = { 'n' }, lhs = 'i', does = 'write a message', run = write },
  { modes = { 'n' }, lhs = '<C-c>', does = 'stop the running turn', run = stop },
  {
    modes = { 'n' },
    lhs = 'R',
    does = 'reload the session',
    run = function(chat)
      require('xcsh.chat').again(chat, true)
    end,
  },
  { modes = { 'n' }, lhs = 'q', does = 'hide the chat', run = hide },
  { modes = { 'n' }, lhs = '?', does = 'show the keys', run = help },
}

---@type xcsh.chat.Key[]
M.prompt = {
  {
    modes = { 'n' },
    lhs = '<CR>',
    does = 'send, or add to the running turn',
    run = send('steer'),
  },
  {
    modes = { 'n', 'i' },
    lhs = '<C-s>',
    does = 'send, or add to the running turn',
    run = send('steer'),
  },
  {
    modes = { 'n', 'i' },
    lhs = '<C-f>',
    does = 'send, or queue until the turn ends',
    run = send('followUp'),
  },
  {
    modes = { 'i' },
    lhs = '<Tab>',
    does = 'complete a command, such as /name, or a reference, such as @file',
    yields = true,
    run = function(chat)
      require('xcsh.chat.slash').key(chat)
    end,
  },
  {
    modes = { 'n' },
    lhs = 'g/',
    does = 'search the prompt history',
    run = function()
      require('xcsh.history').choose('')
    end,
  },
  {
    modes = { 'n' },
    lhs = 'gp',
    does = 'attach the image in the clipboard',
    run = function(chat)
      require('xcsh.chat.references').paste_image(chat)
    end,
  },
  { modes = { 'n', 'i' }, lhs = '<C-c>', does = 'stop the running turn', run = stop },
  { modes = { 'n' }, lhs = 'q', does = 'hide the chat', run = hide },
  { modes = { 'n' }, lhs = 'g?', does = 'show the keys', run = help },
}

---Up in the first line and down in the last line recall earlier prompts; elsewhere they move the
---cursor.
---@param chat xcsh.chat.Chat
---@param lhs string
---@param step -1|1
local function history_key(chat, lhs, step)
  vim.keymap.set({ 'n', 'i' }, lhs, function()
    local row = vim.api.nvim_win_get_cursor(0)[1]
    local edge = step == -1 and 1 or vim.api.nvim_buf_line_count(chat.input)
    if row ~= edge or not input.browse(chat, step) then
      vim.api.nvim_feedkeys(vim.keycode(lhs), 'n', false)
    end
  end, { buffer = chat.input, desc = 'xcsh: earlier prompts' })
end

---Reports whether the user, not Neovim, has mapped a key.
---@param lhs string
---@param mode string
local function is_users(lhs, mode)
  local map = vim.fn.maparg(lhs, mode, false, true)
  -- Later versions map <Tab> themselves.
  return next(map) ~= nil and not (map.desc or ''):find('^vim%.snippet')
end

---@param bufnr integer
---@param keys xcsh.chat.Key[]
---@param chat xcsh.chat.Chat
local function set_all(bufnr, keys, chat)
  for _, key in ipairs(keys) do
    if not (key.yields and is_users(key.lhs, key.modes[1])) then
      vim.keymap.set(key.modes, key.lhs, function()
        key.run(chat)
      end, { buffer = bufnr, nowait = true, desc = 'xcsh: ' .. key.does })
    end
  end
end

---@param chat xcsh.chat.Chat
function M.set(chat)
  set_all(chat.bufnr, M.conversation, chat)
  set_all(chat.input, M.prompt, chat)
  history_key(chat, '<Up>', -1)
  history_key(chat, '<Down>', 1)
end

---Shows the keys in a floating window.
function M.help()
  local lines = { 'In the conversation', '' }
  for _, key in ipairs(M.conversation) do
    lines[#lines + 1] = ('  %-7s %s'):format(key.lhs, key.does)
  end
  vim.list_extend(lines, { '', 'In the prompt', '' })
  for _, key in ipairs(M.prompt) do
    lines[#lines + 1] = ('  %-7s %s'):format(key.lhs, key.does)
  end
  lines[#lines + 1] = '  <Up>    previous prompt (from the first line)'
  lines[#lines + 1] = '  <Down>  next prompt (from the last line)'
  require('xcsh.view').float('keys', lines)
end

return M
