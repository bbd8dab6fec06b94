-- Inline changes: requested in the text, and reviewed before they are applied.

local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

---@param lines string[]
---@return integer bufnr, string path
local function file(lines)
  local path = harness.folder('work') .. '/a.txt'
  vim.fn.writefile(lines, path)
  vim.cmd.edit(path)
  return vim.api.nvim_get_current_buf(), path
end

---The model's reply: one edit, and a sentence.
---@param old string
---@param new string
---@return Answer[]
local function editing(old, new)
  local args = { path = 'a.txt', edits = { { oldText = old, newText = new } } }
  return {
    { text = 'Changing it.', calls = { { id = 'c1', name = 'edit', args = args } } },
    { text = 'That is what was wanted.' },
  }
end

local function buffer_lines(bufnr)
  return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
end

---Waits for a change that was made, opens it and returns the text of the window.
local function review_afterwards()
  return harness.open_waiting('XcshReview')
end

---Checks that the review window is closed and the turn has ended.
local function over()
  wait('the end of the turn', function()
    return require('xcsh').status() == '' and vim.api.nvim_win_get_config(0).relative == ''
  end)
end

local function press(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
end

case('a change is reviewed, accepted, and can be undone', function()
  local model = harness.model(editing('two', 'zwei'))
  local bufnr, path = file({ 'one', 'two', 'three' })
  vim.cmd('2,3XcshInline in German, please')
  eq('-two\n+zwei', harness.review(bufnr))
  eq({ 'one', 'two', 'three' }, buffer_lines(bufnr))
  press('gxK')
  wait('the change', function()
    return buffer_lines(bufnr)[2] == 'zwei'
  end)
  over()
  eq({ 'one', 'two', 'three' }, vim.fn.readfile(path))
  vim.api.nvim_buf_call(bufnr, function()
    vim.cmd('silent undo')
  end)
  eq({ 'one', 'two', 'three' }, buffer_lines(bufnr))
  local said = vim.inspect(model.requests[1].messages)
  like('<instruction>.*lines 2 to 3 of a%.txt.*</instruction>', said)
  like('in German, please', said)
  like('lines=.?"2%-3', said)
  eq({}, harness.asked)
  local chat = require('chats').open()
  require('chats').wait_for(chat, '## You[^#]*\nin German, please')
  eq(nil, require('chats').text_of(chat):find('with the edit tool'))
end)

case('a rejected change is not applied, and the model receives the rejection', function()
  local model = harness.model(editing('two', 'zwei'))
  local bufnr = file({ 'one', 'two' })
  vim.cmd('2XcshInline in German')
  harness.review(bufnr)
  press('gxU')
  over()
  eq({ 'one', 'two' }, buffer_lines(bufnr))
  wait('the second request', function()
    return model.requests[2]
  end)
  like('denied this', vim.inspect(model.requests[2].messages))
end)

case('leaving the file of a change decides nothing', function()
  harness.model(editing('two', 'zwei'))
  local bufnr = file({ 'one', 'two' })
  vim.cmd('2XcshInline in German')
  local shown = harness.review(bufnr)
  vim.cmd.enew()
  wait('the status', function()
    return require('xcsh').status() == 'xcsh: waiting for approval…'
  end)
  eq({ 'one', 'two' }, buffer_lines(bufnr))
  eq(shown, harness.review(bufnr))
  press('gxU')
  over()
  eq({ 'one', 'two' }, buffer_lines(bufnr))
  eq('', harness.shown_change(bufnr))
end)

case(':XcshInline changes the selection, and asks for an instruction', function()
  local model = harness.model(editing('two', 'zwei'))
  local bufnr = file({ 'one', 'two', 'three', 'four' })
  harness.type('in German')
  press('2GVj:XcshInline<CR>')
  harness.review(bufnr)
  press('gxK')
  wait('the change', function()
    return buffer_lines(bufnr)[2] == 'zwei'
  end)
  over()
  eq('Change lines 2 to 3: ', harness.asked[1].prompt)
  like('lines 2 to 3', vim.inspect(model.requests[1].messages))
end)

case('require("xcsh").inline() changes the visual selection', function()
  harness.model({ { text = 'No.' } })
  file({ 'one', 'two', 'three', 'four' })
  vim.keymap.set('x', 'X', function()
    require('xcsh').inline({ instruction = 'better' })
  end)
  local model = harness.model({ { text = 'No.' } })
  press('2GVjX')
  wait('the request', function()
    return model.requests[1]
  end)
  over()
  eq('n', vim.api.nvim_get_mode().mode)
  like('lines 2 to 3 of a%.txt', vim.inspect(model.requests[1].messages))
  harness.message('^No%.$')
  vim.keymap.del('x', 'X')
end)

case('edits that are allowed without asking are reviewed afterwards', function()
  harness.model(editing('two', 'zwei'), { approval = 'auto-edit' })
  local bufnr = file({ 'one', 'two' })
  vim.cmd('2XcshInline in German')
  like('%-two\n%+zwei', review_afterwards())
  eq({ 'one', 'zwei' }, buffer_lines(bufnr))
  press('d')
  over()
  eq({ 'one', 'two' }, buffer_lines(bufnr))
end)

case('edits made during a review are not overwritten', function()
  harness.model(editing('two', 'zwei'))
  local bufnr = file({ 'one', 'two' })
  vim.cmd('2XcshInline in German')
  harness.review(bufnr)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, { 'all', 'new' })
  press('gxk')
  harness.message('^You have edited these lines')
  press('gxU')
  over()
  eq({ 'all', 'new' }, buffer_lines(bufnr))
end)

case('only files in the directory can be changed', function()
  harness.model({})
  vim.cmd.enew()
  vim.cmd('XcshInline better')
  harness.message('^Open a file to change it with xcsh%.$')
  vim.cmd.edit(harness.folder('other') .. '/b.txt')
  vim.cmd('XcshInline better')
  harness.message('b%.txt is not in ')
  file({ 'one' })
  harness.type('')
  vim.cmd('XcshInline')
  harness.message('^Nothing entered%.$')
end)
