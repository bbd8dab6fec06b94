-- The user types in the buffer that :XcshInline changes: their text is neither shown as a part of
-- the change nor undone with it.

local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

local function lines_of(bufnr)
  return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
end

local function press(keys)
  vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
end

---The model's reply: one edit, held until the service is released.
---@return Answer[]
local function editing()
  local args = { path = 'a.txt', edits = { { oldText = 'two', newText = 'zwei' } } }
  return {
    { text = 'Changing it.', held = true, calls = { { id = 'c1', name = 'edit', args = args } } },
    { text = 'That is what was wanted.' },
  }
end

---Requests a change of line 2, and types while the model is working.
---@return integer bufnr
local function typed_meanwhile()
  local model = harness.model(editing(), { approval = 'auto-edit' })
  local path = harness.folder('work') .. '/a.txt'
  vim.fn.writefile({ 'one', 'two', 'three', 'four' }, path)
  vim.cmd.edit(path)
  local bufnr = vim.api.nvim_get_current_buf()
  vim.cmd('2XcshInline in German')
  wait('the answer to be held', function()
    return model.holding
  end)
  press('Gomine<Esc>')
  harness.execute('xcsh.state') -- the server has the text now, and its edit is for this version
  model:release()
  wait('the end of the turn', function()
    return require('xcsh').status() == ''
  end)
  eq({ 'one', 'zwei', 'three', 'four', 'mine' }, lines_of(bufnr))
  return bufnr
end

local function wait_for_change()
  wait('the change', function()
    return #harness.notified > 0 or vim.api.nvim_win_get_config(0).relative ~= ''
  end)
end

---Opens the review and returns its text.
local function review()
  -- Earlier versions opened the review automatically.
  if vim.api.nvim_win_get_config(0).relative == '' then
    vim.cmd('XcshReview')
  end
  return table.concat(lines_of(0), '\n')
end

for key, expected in pairs({ d = 'two', q = 'zwei', a = 'zwei' }) do
  case(':XcshInline keeps what is typed meanwhile, with ' .. key, function()
    local bufnr = typed_meanwhile()
    wait_for_change()
    local shown = review()
    like('%-two\n%+zwei', shown)
    eq(nil, shown:find('+mine', 1, true))
    press('jjj')
    press(key)
    eq({ 'one', expected, 'three', 'four', 'mine' }, lines_of(bufnr))
  end)
end

case(':XcshInline reports the edits that it keeps', function()
  local bufnr = typed_meanwhile()
  wait_for_change()
  press('2GA!<Esc>')
  local shown = review()
  like('edited line 2 since.*\n%-two', shown)
  press('d')
  harness.message('^0 of 1 changes undone in a.txt. The others were edited since')
  eq({ 'one', 'zwei!', 'three', 'four', 'mine' }, lines_of(bufnr))
end)
