-- The review of proposed changes: marks in the file, by hunk, and the diff tab, whose text can be
-- edited; the list of a turn's changes.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local press = chats.press

local numbers = { 'one', 'two', 'three', 'four', 'five' }

---The model's reply: one call, and a sentence.
---@param name string
---@param args table
---@return Answer[]
local function calling(name, args)
  return {
    { text = 'Changing it.', calls = { { id = 'c1', name = name, args = args } } },
    { text = 'Done.' },
  }
end

---The model's edit of two places of a.txt.
local function editing()
  return calling('edit', {
    path = 'a.txt',
    edits = {
      { oldText = 'one\n', newText = '1\n' },
      { oldText = 'five\n', newText = '5\nsix\n' },
    },
  })
end

---Opens a file, and lets the model make its call in a turn of the chat, which is not visible.
---@param replies Answer[]
---@param lines? string[]
---@param options? xcsh.Config
---@return Service model, integer bufnr, string path
local function propose(replies, lines, options)
  local model = harness.model(replies)
  require('xcsh.config').set(vim.tbl_extend('error', require('xcsh.config').options, options or {}))
  local path = chats.file('a.txt', lines or numbers)
  vim.cmd.edit(path)
  local bufnr = vim.api.nvim_get_current_buf()
  require('xcsh').execute('xcsh.prompt', { text = 'go' }, function() end)
  return model, bufnr, path
end

---Waits for the end of the turn, and returns what the model received as the result of its call.
---@param model Service
local function result_of(model)
  wait('the second request', function()
    return model.requests[2]
  end)
  wait('the end of the turn', function()
    return require('xcsh').status() == ''
  end)
  return vim.inspect(model.requests[2].messages)
end

local function lines_of(bufnr)
  return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
end

---Waits for the announcement of a change.
local function announced()
  return harness.message('^Pending .*:XcshReview')
end

---Returns the proposed text of the diff tab that is open.
local function proposed()
  like('^xcsh%-review://%d+/a?b?%.txt', vim.api.nvim_buf_get_name(0))
  return table.concat(lines_of(0), '\n')
end

case('one hunk is kept and one is left out, and the model is informed', function()
  local model, bufnr, path = propose(editing())
  eq('-one\n+1\n-five\n+5\n+six', harness.review(bufnr))
  eq({ 1, 0 }, vim.api.nvim_win_get_cursor(0))
  press('gxu')
  eq({ 5, 0 }, vim.api.nvim_win_get_cursor(0))
  eq('-five\n+5\n+six', harness.shown_change(bufnr))
  eq(numbers, lines_of(bufnr))
  press('gxk')
  local said = result_of(model)
  eq({ 'one', 'two', 'three', 'four', '5', 'six' }, lines_of(bufnr))
  like('The user changed your proposal for a%.txt before accepting it', said)
  like('%-five\\n%+5\\n%+six', said)
  eq(nil, said:find('+1\\n', 1, true))
  eq('', harness.shown_change(bufnr))
  local later = require('xcsh.changes.keys').all -- what was accepted can be looked at again
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(bufnr, 'n')) do
    local known = vim.iter(later):any(function(key)
      return map.desc == 'xcsh: ' .. key.does
    end)
    eq(true, known, map.desc)
  end
  eq(numbers, vim.fn.readfile(path), 'the user saves the buffer')
end)

case('a change is kept or rejected as a whole, and the keys go through the hunks', function()
  local model, bufnr = propose(editing())
  harness.review(bufnr)
  press(']x')
  eq(5, vim.api.nvim_win_get_cursor(0)[1])
  press(']x')
  eq(1, vim.api.nvim_win_get_cursor(0)[1])
  press('[x')
  eq(5, vim.api.nvim_win_get_cursor(0)[1])
  press('gxK')
  like('Successfully replaced 2 blocks in a%.txt', result_of(model))
  eq({ '1', 'two', 'three', 'four', '5', 'six' }, lines_of(bufnr))
  model:close()

  model = harness.model(editing())
  harness.execute('xcsh.new')
  vim.cmd('silent edit!')
  require('xcsh').execute('xcsh.prompt', { text = 'go' }, function() end)
  harness.review(bufnr)
  press('gxU')
  like('The user denied this edit call', result_of(model))
  eq(numbers, lines_of(bufnr))
end)

case("the user's edits during the review stay, also in an accepted text", function()
  local model, bufnr = propose(editing())
  harness.review(bufnr)
  vim.api.nvim_buf_set_lines(bufnr, 2, 3, false, { 'mine', 'and mine' })
  press('gxk')
  eq(6, vim.api.nvim_win_get_cursor(0)[1])
  vim.api.nvim_buf_set_lines(bufnr, 5, 6, false, { 'FIVE' })
  press('gxk')
  harness.message('^You have edited these lines, so this hunk cannot be kept%.$')
  press('gxu')
  like('The user changed your proposal', result_of(model))
  eq({ '1', 'two', 'mine', 'and mine', 'four', 'FIVE' }, lines_of(bufnr))
end)

case('a change at the top, in a file that is not open, is shown there', function()
  local args = { path = 'b.txt', edits = { { oldText = 'one', newText = 'zero\none' } } }
  local model = propose(calling('edit', args))
  local path = chats.file('b.txt', numbers)
  announced()
  eq(-1, vim.fn.bufnr(path))
  vim.cmd('XcshReview')
  eq(path, vim.api.nvim_buf_get_name(0))
  eq('+zero', harness.shown_change(0))
  eq(1, vim.fn.winsaveview().topfill)
  press('gxk')
  like('Successfully', result_of(model))
  eq({ 'zero', unpack(numbers) }, lines_of(0))
end)

case('the proposed text of the diff tab can be edited, and :w accepts it', function()
  local model, bufnr = propose(editing())
  announced()
  vim.cmd('XcshReview tab')
  eq(2, #vim.api.nvim_list_tabpages())
  eq('1\ntwo\nthree\nfour\n5\nsix', proposed())
  eq({ true, true }, {
    vim.wo[vim.fn.win_getid(1)].diff,
    vim.wo[vim.fn.win_getid(2)].diff,
  })
  vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'TWO' })
  press('Ggxu')
  eq('1\nTWO\nthree\nfour\nfive', proposed())
  vim.cmd('wq')
  like('The user changed your proposal', result_of(model))
  wait('the tab to close', function()
    return #vim.api.nvim_list_tabpages() == 1
  end)
  eq(bufnr, vim.api.nvim_get_current_buf())
  eq({ '1', 'TWO', 'three', 'four', 'five' }, lines_of(bufnr))
end)

case(':q in the diff tab rejects the change, and an unchanged :w makes it as it is', function()
  local model, bufnr = propose(editing(), nil, { review = 'tab' })
  announced()
  eq('', harness.shown_change(bufnr))
  vim.cmd('XcshReview')
  proposed()
  vim.cmd('quit')
  like('The user denied this edit call', result_of(model))
  harness.message('^Rejected the change to a%.txt%.$')
  eq({ 1, numbers }, { #vim.api.nvim_list_tabpages(), lines_of(bufnr) })
  model:close()

  model = harness.model(editing())
  require('xcsh.config').options.review = 'tab'
  harness.notified = {}
  require('xcsh').execute('xcsh.prompt', { text = 'go' }, function() end)
  announced()
  vim.cmd('XcshReview')
  vim.cmd('write')
  like('Successfully replaced 2 blocks', result_of(model))
  eq({ '1', 'two', 'three', 'four', '5', 'six' }, lines_of(bufnr))
end)

case('a new file is reviewed in a tab, and exists once it is accepted', function()
  local model, _, path = propose(calling('write', { path = 'b.txt', content = 'a\r\nb\r\n' }))
  local new = vim.fs.dirname(path) .. '/b.txt'
  announced()
  vim.cmd('XcshReview')
  eq('a\nb', proposed())
  eq(nil, vim.uv.fs_stat(new))
  vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'mine' })
  vim.cmd('write')
  like('The user changed your proposal for b%.txt', result_of(model))
  eq('a\r\nmine\r\n', table.concat(vim.fn.readfile(new, 'b'), '\n'))
end)

case('a change that was answered elsewhere is not pending any more', function()
  local model, bufnr = propose(editing())
  harness.review(bufnr)
  vim.cmd('XcshReview tab')
  local tab = vim.api.nvim_get_current_tabpage()
  harness.execute('xcsh.approve', { id = 'c1', decision = 'deny' })
  like('denied', result_of(model))
  eq(tab, vim.api.nvim_get_current_tabpage())
  wait('the end of the review', function()
    return vim.wo.winbar:find('no longer pending')
  end)
  eq('', harness.shown_change(bufnr))
  vim.cmd('write')
  harness.message('^The change is no longer pending%.$')
  vim.cmd('tabclose!')
  eq(numbers, lines_of(bufnr))
end)

case('a file that changed since is not reviewed by hunk', function()
  local model, bufnr = propose(editing())
  announced()
  vim.cmd('bwipeout!')
  chats.file('a.txt', { 'other' })
  vim.cmd('XcshReview')
  eq({ vim.api.nvim_get_current_win() }, harness.floats())
  like('%+six', table.concat(lines_of(0), '\n'))
  eq(false, vim.api.nvim_buf_is_valid(bufnr))
  press('a')
  like('not', result_of(model))
  eq({ 'other' }, vim.fn.readfile(vim.fn.getcwd() .. '/a.txt'))
end)

case('o in the chat opens the review, and :XcshChanges lists the changes of the turn', function()
  harness.model({
    editing()[1],
    {
      text = 'And a new one.',
      calls = { { id = 'c2', name = 'write', args = { path = 'b.txt', content = 'x\ny\n' } } },
    },
    { text = 'Done.' },
  })
  local path = chats.file('a.txt', numbers)
  vim.cmd.edit(path)
  local bufnr, chat = vim.api.nvim_get_current_buf(), chats.open()
  chats.send(chat, 'go')
  local function review()
    chats.wait_for(chat, 'o  review the change in the file')
    -- The event that the chat shows can arrive before the request, which has the change.
    wait('the request', function()
      return require('xcsh.waiting').count() == 1
    end)
    chats.at(chat, 'o  review the change')
    press('o')
  end
  review()
  eq(bufnr, vim.api.nvim_get_current_buf())
  vim.cmd('XcshChanges')
  wait('the list', function()
    return vim.bo.filetype == 'qf'
  end)
  like('^%[proposed%] %+1 −1 +%+ 1$', vim.fn.getqflist()[1].text)
  vim.cmd('cclose')
  vim.api.nvim_set_current_win(chats.window_of(bufnr))
  press('gxK')
  chats.wait_for(chat, 'create b%.txt')
  review()
  vim.cmd('write')
  chats.settled(chat)
  vim.api.nvim_buf_set_lines(bufnr, 2, 2, false, { 'between', 'between' })
  vim.cmd('XcshChanges')
  wait('the list', function()
    return vim.bo.filetype == 'qf'
  end)
  local found = vim.tbl_map(function(item)
    return { vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)), item.lnum, item.text }
  end, vim.fn.getqflist())
  eq({
    { 'a.txt', 1, '+1 −1  + 1' },
    { 'a.txt', 7, '+2 −1  + 5' },
    { 'b.txt', 1, '+2 −0  + x' },
  }, found)
  like('^xcsh: changes of the last turn · 2 files', vim.fn.getqflist({ title = 1 }).title)
  vim.cmd('cc 2')
  eq({ bufnr, 7 }, { vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] })
end)

case('a diff applies only to its own text', function()
  local apply = require('xcsh.review.proposal').apply
  local diff = '--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n'
  eq('one\n2\nthree\n', apply('one\ntwo\nthree\n', diff))
  local dos = '--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\r\n'
  eq('one\r\n2\r\n', apply('one\r\ntwo\r\n', dos))
  eq('new\n', apply('', '--- a\n+++ a\n@@ -0,0 +1 @@\n+new\n'))
  eq('', apply('old\n', '--- a\n+++ a\n@@ -1 +0,0 @@\n-old\n'))
  local no_end = '--- a\n+++ a\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+1\n'
  eq('1\n', apply('one', no_end))
  eq(nil, apply('one\n', no_end))
  for _, wrong in ipairs({
    '',
    'text',
    '@@ -1 +1 @@\n-other\n+1\n',
    '@@ -9 +9 @@\n-one\n+1\n',
    '@@ -1 +1 @@\n-one\n+1\n@@ -1 +1 @@\n-one\n+1\n',
    '@@ -1 +1 @@\nxone\n',
    diff .. 'garbage\n',
  }) do
    eq(nil, apply('one\ntwo\n', wrong))
  end
end)
