-- Changes and rewinds with the real server: what the model did to a buffer and to a file is marked,
-- kept, undone and restored, and what the user wrote stays.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local press = chats.press

local numbers = { 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine' }

---Lets the model change two places of a.txt, which is open, and create new/b.txt.
---@return integer bufnr, string path
local function turn()
  local edits = {
    { oldText = 'two\n', newText = 'TWO\nTWO b\n' },
    { oldText = 'eight\n', newText = '' },
  }
  harness.model({
    {
      text = 'Changing it.',
      calls = {
        { id = 'c1', name = 'edit', args = { path = 'a.txt', edits = edits } },
        { id = 'c2', name = 'write', args = { path = 'new/b.txt', content = 'b\n' } },
      },
    },
    { text = 'Done.' },
  })
  local path = chats.file('a.txt', numbers)
  vim.cmd.edit(path)
  local bufnr = vim.api.nvim_get_current_buf()
  harness.execute('xcsh.setApproval', { mode = 'yolo' })
  harness.execute('xcsh.prompt', { text = 'Change\nthe file' })
  wait('the marks', function()
    local shown = require('xcsh.changes.marks').of(bufnr)
    return shown and #shown.marks == 2
  end)
  return bufnr, path
end

local function text_of(bufnr)
  return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), ' ')
end

local changed = 'one TWO TWO b three four five six seven nine'

case('one change is undone and restored, the other one kept', function()
  local bufnr = turn()
  eq(changed, text_of(bufnr))
  eq('3 to review', require('xcsh').changes())
  vim.api.nvim_win_set_cursor(0, { 3, 0 })
  press('gxu')
  harness.message('^Undid 1 change%.')
  eq('one two three four five six seven nine', text_of(bufnr))
  press('u')
  eq(changed, text_of(bufnr))
  vim.cmd('silent redo')
  vim.cmd('XcshRedo')
  harness.message('^Restored 1 file%.$')
  eq(changed, text_of(bufnr))
  wait('the marks', function()
    return #(require('xcsh.changes.marks').of(bufnr) or { marks = {} }).marks == 2
  end)
  press('G[x')
  press('gxk')
  harness.message('^Kept 1 change%. 2 left to review%.$')
  wait('the mark to go', function()
    return #require('xcsh.changes.marks').of(bufnr).marks == 1
  end)
end)

case('a rewind undoes a turn with its conversation, and the lines of the user stay', function()
  local bufnr, path = turn()
  local created = vim.fs.dirname(path) .. '/new/b.txt'
  eq({ 'b' }, vim.fn.readfile(created))
  press('Gomine<Esc>')
  require('xcsh.rewind.tab').quiet = 0
  harness.answer('Change the file')
  harness.answer('Files and conversation')
  vim.cmd('XcshRewind')
  wait('the plan', function()
    return vim.bo.filetype == 'xcsh-rewind'
  end)
  local plan = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  like('\n  merge  +a%.txt .*your line 10 stays', plan)
  like('\n  remove +new/b%.txt', plan)
  press('y')
  harness.message('^Undid the changes of 2 files%.')
  eq('one two three four five six seven eight nine mine', text_of(bufnr))
  eq(nil, (vim.uv.fs_stat(vim.fs.dirname(created))))
  eq(
    'Change\nthe file',
    table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('xcsh://prompt'), 0, -1, false), '\n')
  )
  eq(0, harness.execute('xcsh.state').messageCount)
  wait('no marks', function()
    return not require('xcsh.changes.marks').of(bufnr)
  end)
  vim.cmd('XcshRedo')
  harness.message('^Restored 2 files%.$')
  eq(changed .. ' mine', text_of(bufnr))
  eq({ 'b' }, vim.fn.readfile(created))
end)

case('a plan for lines that changed since is made again', function()
  local bufnr, path = turn()
  require('xcsh.rewind.tab').quiet = 0
  harness.answer('Change the file')
  harness.answer('Files only')
  vim.cmd('XcshRewind')
  wait('the plan', function()
    return vim.bo.filetype == 'xcsh-rewind'
  end)
  vim.api.nvim_buf_set_lines(bufnr, 1, 2, false, { 'my own' })
  press('y')
  local function shown()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  end
  wait('the new plan', function()
    return shown():find('has changed since')
  end)
  like('\n  conflict +a%.txt', shown())
  eq(1, vim.fn.filereadable(vim.fs.dirname(path) .. '/new/b.txt'))
  press('X')
  wait('the plan without the conflict', function()
    return shown():find('y carry out')
  end)
  press('y')
  harness.message('^Undid the changes of 1 file%.')
  eq(0, vim.fn.filereadable(vim.fs.dirname(path) .. '/new/b.txt'))
  eq('one my own TWO b three four five six seven nine', text_of(bufnr))
end)

case('the list, the comparison and the line at the end of a turn', function()
  local bufnr, path = turn()
  vim.cmd('XcshChanges')
  wait('the list', function()
    return vim.bo.filetype == 'qf'
  end)
  local title = '^xcsh: changes of the last turn · 2 files %+3 −2 · 3 to review'
  like(title, vim.fn.getqflist({ title = 1 }).title)
  local found = vim.tbl_map(function(item)
    return ('%s %d %s'):format(
      vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)),
      item.lnum,
      item.text
    )
  end, vim.list_slice(vim.fn.getqflist(), 1, 3))
  eq({ 'a.txt 2 +2 −1  + TWO', 'a.txt 9 +0 −1  - eight', 'b.txt 1 +1 −0  + b' }, found)
  vim.cmd('cclose')
  press(']f')
  wait('the comparison', function()
    return vim.wo.diff
  end)
  eq(bufnr, vim.api.nvim_get_current_buf())
  local left = vim.api.nvim_win_get_buf(vim.fn.win_getid(1))
  eq(table.concat(numbers, ' '), text_of(left))
  press(']f')
  wait('the next file', function()
    return vim.api.nvim_buf_get_name(0) == vim.fs.dirname(path) .. '/new/b.txt'
  end)
  vim.cmd('tabclose')
  harness.answer('All files')
  vim.cmd('XcshKeep')
  harness.message('^Kept 3 changes%. Nothing left to review%.$')
  wait('no marks', function()
    return not require('xcsh.changes.marks').of(bufnr)
  end)
end)
