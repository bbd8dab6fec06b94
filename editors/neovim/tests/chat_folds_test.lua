-- The folds of a conversation while it grows.

local items = require('xcsh.chat.items')
local render = require('xcsh.chat.render')
local runner = require('runner')
local case, eq = runner.case, runner.eq

---Returns a function that shows an answer made of these blocks, and returns the folds as
---{ first, last } rows.
local function shown()
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_win_set_buf(0, bufnr)
  vim.wo.foldmethod = 'manual'
  vim.wo.foldenable = true
  local state = require('xcsh.chat.state').new()
  local function message(blocks)
    return { role = 'assistant', model = 'm', content = blocks }
  end
  return function(blocks)
    if state.items[1] then
      items.set_message(state.items[1], message(blocks))
    else
      state.items[1] = items.new(nil, message(blocks), true)
    end
    render.update(bufnr, state)
    local folds, row = {}, 1
    while row <= vim.api.nvim_buf_line_count(bufnr) do
      local last = vim.fn.foldclosedend(row)
      if last ~= -1 then
        folds[#folds + 1] = { row, last }
        row = last
      end
      row = row + 1
    end
    return folds, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  end
end

case('a text that appears together with the end of a thought is not folded', function()
  local show = shown()
  eq({ { 3, 4 } }, (show({ { type = 'thinking', thinking = 'The us' } })))
  local folds, lines = show({
    { type = 'thinking', thinking = 'The user names a file.' },
    { type = 'text', text = 'I read the file.' },
  })
  eq('I read the file.', lines[6])
  eq({ { 3, 4 } }, folds)
end)

case('what fits into the window once it is folded is not scrolled out of it', function()
  local show = shown()
  vim.cmd('split')
  vim.api.nvim_win_set_height(0, 10)
  show({ { type = 'text', text = 'I read it.' } })
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(0), 0 })
  local thought = ('line of a thought\n'):rep(20)
  local folds = show({
    { type = 'text', text = 'I read it.' },
    { type = 'thinking', thinking = thought },
    { type = 'text', text = 'That was all.' },
  })
  eq(1, #folds)
  eq(1, vim.fn.line('w0'))
  vim.cmd('only')
end)
