-- The user's windows, keys and options beside the plugin.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local case, eq, wait = runner.case, runner.eq, runner.wait

local function widths()
  local all = {}
  for number = 1, vim.fn.winnr('$') do
    local name = vim.fn.bufname(vim.fn.winbufnr(number))
    if not name:find('^xcsh:') then
      table.insert(all, vim.fn.winwidth(number))
    end
  end
  return all
end

case(':XcshChat takes its room from all windows, and gives it back', function()
  chats.demo()
  vim.o.columns = 178
  vim.cmd('vsplit | vsplit')
  local before = widths()
  eq({ 59, 59, 58 }, before)
  chats.open()
  local narrow = widths()
  eq(3, #narrow)
  for _, width in ipairs(narrow) do
    eq(true, math.abs(width - narrow[1]) <= 2, narrow)
  end
  vim.cmd('XcshChat!')
  eq(before, widths())
  -- Windows that the user changed meanwhile stay as they are.
  vim.o.equalalways = false
  chats.open()
  vim.cmd('1wincmd w')
  vim.api.nvim_win_set_width(0, 20)
  local changed = widths()
  eq(20, changed[1])
  vim.cmd('XcshChat!')
  eq(20, widths()[1])
  vim.o.equalalways = true
  vim.o.columns = 80
end)

case(':q of the chat gives the room back, too', function()
  chats.demo()
  vim.o.columns = 178
  vim.cmd('vsplit | vsplit')
  local before = widths()
  local function closed()
    wait('the sizes', function()
      return vim.fn.winnr('$') == 3 and vim.deep_equal(before, widths())
    end)
  end
  for _, equal in ipairs({ true, false }) do
    vim.o.equalalways = equal
    -- The conversation takes its prompt along.
    local chat = chats.open()
    vim.api.nvim_set_current_win(chats.window_of(chat.bufnr))
    vim.cmd.quit()
    closed()
    -- The prompt can be closed alone.
    chats.open()
    vim.cmd.quit()
    eq(4, vim.fn.winnr('$'))
    vim.api.nvim_set_current_win(chats.window_of(chat.bufnr))
    vim.cmd.quit()
    closed()
  end
  vim.o.equalalways = true
  vim.o.columns = 80
end)

case('a chat at the bottom keeps the proportions of the windows, too', function()
  require('xcsh').setup({
    init_options = { model = 'offline/demo' },
    chat = { position = 'bottom', height = 14 },
  })
  vim.o.lines = 60
  vim.cmd('split')
  local before = { vim.fn.winheight(1), vim.fn.winheight(2) }
  chats.open()
  eq(true, math.abs(vim.fn.winheight(1) - vim.fn.winheight(2)) <= 2)
  vim.cmd('XcshChat!')
  eq(before, { vim.fn.winheight(1), vim.fn.winheight(2) })
  vim.o.lines = 24
end)

---@return string
local function key_of(bufnr)
  return vim.api.nvim_buf_call(bufnr, function()
    return vim.fn.maparg('K', 'n')
  end)
end

case("K and the options of files stay the user's, and K works in session files", function()
  chats.demo()
  local session = harness.session(vim.fn.getcwd(), '15d56a686bbe6801', 'a?', 'b')
  vim.cmd.edit(chats.file('a.txt', { 'one' }))
  local file = vim.api.nvim_get_current_buf()
  vim.cmd.edit(session)
  local other = vim.api.nvim_get_current_buf()
  harness.execute('xcsh.state')
  local client = vim.lsp.get_clients({ name = 'xcsh' })[1]
  eq(true, vim.lsp.buf_is_attached(file, client.id))
  eq(true, vim.lsp.buf_is_attached(other, client.id))
  eq('', key_of(file))
  eq({ '', '', '' }, { vim.bo[file].tagfunc, vim.bo[file].omnifunc, vim.bo[file].formatexpr })
  eq(1, vim.fn.maparg('K', 'n') == '' and 0 or 1)
  -- A mapping that was there stays.
  vim.cmd.edit(chats.file('b.txt', { 'one' }))
  eq('', key_of(0))
end)

case(
  'the model picker lists the models that are ready to use, and all of them on request',
  function()
    harness.model({})
    harness.answer('All models (')
    harness.answer('anthropic/claude-opus-4-5 ')
    vim.cmd('XcshModel')
    harness.message('^Model: ')
    eq(3, #harness.asked[1].lines)
    eq({ 'local/m', 'offline/demo' }, {
      harness.asked[1].lines[1]:match('^%S+'),
      harness.asked[1].lines[2]:match('^%S+'),
    })
    eq(true, #harness.asked[2].lines > 1000)
  end
)
