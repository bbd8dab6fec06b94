-- A change of some lines that is asked for in the text, and shown before it is made.

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

---What the model does: one edit, and a sentence.
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

---Waits for the window with the change and returns what it says.
local function review()
  wait('the change to be shown', function()
    return vim.api.nvim_win_get_config(0).relative ~= ''
  end)
  return table.concat(buffer_lines(0), '\n')
end

---The window of the change is gone, and the turn over.
local function over()
  wait('the end of the turn', function()
    return require('xcsh').status() == '' and vim.api.nvim_win_get_config(0).relative == ''
  end)
end

local function press(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
end

case('a change of lines is shown before it is made, accepted, and can be undone', function()
  local model = harness.model(editing('two', 'zwei'))
  local bufnr, path = file({ 'one', 'two', 'three' })
  vim.cmd('2,3XcshInline in German, please')
  local shown = review()
  like('\n one\n%-two\n%+zwei\n three', shown)
  eq({ 'one', 'two', 'three' }, buffer_lines(bufnr))
  local groups = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })) do
    groups[mark[4].line_hl_group or ''] = true
  end
  eq({ true, true, true }, { groups.XcshDiffAdd, groups.XcshDiffDelete, groups.XcshDiffHunk })
  press('a')
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
  like('lines 2 to 3 of a%.txt', said)
  like('in German, please', said)
  like('lines=.?"2%-3', said)
  eq({}, harness.asked)
end)

case('a change that is rejected is not made, and the model is told', function()
  local model = harness.model(editing('two', 'zwei'))
  local bufnr = file({ 'one', 'two' })
  vim.cmd('2XcshInline in German')
  review()
  press('d')
  over()
  eq({ 'one', 'two' }, buffer_lines(bufnr))
  wait('the second request', function()
    return model.requests[2]
  end)
  like('did not allow', vim.inspect(model.requests[2].messages))
end)

case('closing the window of a change rejects it', function()
  harness.model(editing('two', 'zwei'))
  local bufnr = file({ 'one', 'two' })
  vim.cmd('2XcshInline in German')
  review()
  press('q')
  over()
  eq({ 'one', 'two' }, buffer_lines(bufnr))
end)

case('the selection is what is changed, and the wish is asked for', function()
  local model = harness.model(editing('two', 'zwei'))
  local bufnr = file({ 'one', 'two', 'three', 'four' })
  harness.type('in German')
  press('2GVj:XcshInline<CR>')
  review()
  press('a')
  wait('the change', function()
    return buffer_lines(bufnr)[2] == 'zwei'
  end)
  over()
  eq('Change lines 2 to 3: ', harness.asked[1].prompt)
  like('lines 2 to 3', vim.inspect(model.requests[1].messages))
end)

case('require("xcsh").inline() takes the lines of the visual selection', function()
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

case('a mode that allows edits has them reviewed afterwards', function()
  harness.model(editing('two', 'zwei'), { approval = 'auto-edit' })
  local bufnr = file({ 'one', 'two' })
  vim.cmd('2XcshInline in German')
  like('%-two\n%+zwei', review())
  eq({ 'one', 'zwei' }, buffer_lines(bufnr))
  press('d')
  over()
  eq({ 'one', 'two' }, buffer_lines(bufnr))
end)

case('a text that is changed while the change is looked at is not overwritten', function()
  harness.model(editing('two', 'zwei'))
  local bufnr = file({ 'one', 'two' })
  vim.cmd('2XcshInline in German')
  review()
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, { 'all', 'new' })
  press('a')
  over()
  eq({ 'all', 'new' }, buffer_lines(bufnr))
end)

case('only a file of the directory can be changed', function()
  harness.model({})
  vim.cmd.enew()
  vim.cmd('XcshInline better')
  harness.message('^Open a file to ask for a change of it%.$')
  vim.cmd.edit(harness.folder('other') .. '/b.txt')
  vim.cmd('XcshInline better')
  harness.message('b%.txt is not in the directory ')
  file({ 'one' })
  harness.type('')
  vim.cmd('XcshInline')
  harness.message('^Nothing entered$')
end)
