-- Search with the quickfix list, and marks of turns out of sight.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

local id = '15d56a686bbe6801'

---Writes a session of numbered prompts, far more than a page of the chat.
---@param messages integer
local function long_session(messages)
  local path = harness.session(vim.fn.getcwd(), id, 'question 1', 'answer 2')
  local lines, parent = vim.fn.readfile(path), 'bbbbbbbb'
  for number = 3, messages do
    local entry = ('%08x'):format(number)
    local word = number % 600 == 0 and ' \27[7mneedle' or ''
    table.insert(
      lines,
      vim.json.encode({
        type = 'message',
        id = entry,
        parentId = parent,
        timestamp = '2026-02-16T10:20:00.000Z',
        message = { role = 'user', content = ('question %d%s'):format(number, word) },
      })
    )
    parent = entry
  end
  vim.fn.writefile(lines, path)
end

---@return string[]
local function texts()
  return vim.tbl_map(function(item)
    return item.text
  end, vim.fn.getqflist())
end

local function opened()
  wait('the quickfix list', function()
    return vim.bo.buftype == 'quickfix'
  end)
end

case(':XcshFind lists hits of the whole conversation, and each opens its message', function()
  chats.demo()
  long_session(3100)
  vim.cmd.edit(chats.file('a.txt', { 'one' }))
  local file = vim.api.nvim_get_current_buf()
  harness.execute('xcsh.resume', { target = id })
  local chat = chats.open()
  vim.cmd('1wincmd w')
  vim.cmd('XcshFind NEEDLE')
  opened()
  eq(5, #vim.fn.getqflist())
  like('^question 600 ', texts()[1])
  like('^question 3000 ', texts()[5])
  eq(nil, table.concat(texts()):find('\27', 1, true))
  eq('You', vim.fn.getline(1):match('^%w+'))
  for _, step in ipairs({ { 'cc 2', 1200 }, { 'cprevious', 600 }, { 'clast', 3000 } }) do
    vim.cmd(step[1])
    wait('message ' .. step[2], function()
      local window = vim.fn.bufwinid(chat.bufnr)
      if window == -1 or vim.api.nvim_get_current_win() ~= window then
        return false
      end
      local row = vim.api.nvim_win_get_cursor(window)[1]
      local line = vim.api.nvim_buf_get_lines(chat.bufnr, row - 1, row, false)[1]
      return line:find(('question %d '):format(step[2]), 1, true)
    end)
  end
  -- No window shows an item instead of the user's file.
  eq(true, vim.fn.bufwinid(file) ~= -1)
  eq(0, #vim.fn.win_findbuf(vim.fn.bufnr('xcsh://message/2')))
end)

case(':XcshFind without a hit is a message', function()
  chats.demo()
  harness.session(vim.fn.getcwd(), id, 'a?', 'b')
  vim.cmd('XcshFind §§§')
  harness.message('^No message contains "§§§"%.$')
end)

case(':XcshSearch lists sessions, shows one, and <CR> resumes it', function()
  chats.demo()
  local here = vim.fn.getcwd()
  harness.session(here, id, 'how do I tokenize?', 'with a parser')
  harness.session(here, '15d56a686bbe6802', 'something else?', 'yes')
  harness.session(harness.folder('other'), '15d56a686bbe6803', 'tokenize there?', 'yes')
  vim.cmd('XcshSearch tokenize')
  opened()
  -- The best match is first; a worse one can be fuzzy.
  like('how do I tokenize', texts()[1])
  local before = harness.execute('xcsh.state').sessionId
  vim.cmd('cc 1')
  wait('the session', function()
    return vim.fn.getline(1):find('how do I tokenize', 1, true)
      and vim.fn.search('with a parser', 'nw') > 0
  end)
  eq(before, harness.execute('xcsh.state').sessionId)
  eq(false, vim.bo.modifiable)
  chats.press('<CR>')
  harness.message('^Resumed ')
  eq(id, harness.execute('xcsh.state').sessionId)
  vim.cmd('XcshSearch! tokenize')
  wait('both sessions', function()
    local all = table.concat(texts(), '\n')
    return all:find('tokenize?', 1, true) and all:find('tokenize there?', 1, true)
  end)
  vim.cmd('XcshSearch §§§§§§')
  harness.message('^No session contains "§§§§§§"%.$')
end)

case('the statusline marks a turn that ended out of sight, until the chat is opened', function()
  local service = harness.model({ { text = 'one two', held = true }, { text = 'Done.' } })
  local here, there = vim.fn.getcwd(), harness.folder('other')
  local xcsh = require('xcsh')
  local ended
  xcsh.execute('xcsh.prompt', { text = 'hello', cwd = there }, function()
    ended = true
  end)
  wait('the first half', function()
    return service.holding
  end)
  eq('xcsh · 1 running elsewhere', xcsh.statusline(here))
  local function line()
    local session = { name = 'A', cwd = there, live = true, timeAgo = 'just now' }
    return require('xcsh.pickers.sessions').line(session)
  end
  eq('A · just now · active in this Neovim, running', line())
  service:release()
  wait('the end', function()
    return ended
  end)
  eq('', xcsh.statusline(here))
  eq('xcsh: m · ✓ finished', xcsh.statusline(there))
  eq('A · just now · active in this Neovim, finished, unread', line())
  vim.cmd.cd(there)
  local chat = chats.open()
  eq('xcsh: m', xcsh.statusline(there))
  eq('A · just now · active in this Neovim', line())
  chats.send(chat, 'again')
  chats.wait_for(chat, 'Done%.')
  chats.settled(chat)
  eq('xcsh: m', xcsh.statusline(there))
end)
